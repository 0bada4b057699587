//! Tables that an older iolag made, looked at without changing them.

/// What makes tables of this version in a database's `schema` look like the present ones to one connection, if anything does.
pub(super) fn views_of_older(version: i64, schema: &str) -> Option<String> {
    const AS_VERSION_3: &str = include_str!("as_version_3.sql");
    const AS_VERSION_4: &str = include_str!("as_version_4.sql");
    let views = match version {
        2 => format!("{AS_VERSION_3}\n{AS_VERSION_4}"),
        3 => AS_VERSION_4.to_owned(),
        4 => String::new(),
        _ => return None,
    };
    Some(views.replace("TABLES", schema))
}
