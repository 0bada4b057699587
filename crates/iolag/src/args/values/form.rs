//! In which form a result is printed.

/// Form of a metadata result on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataForm {
    /// Tables for people.
    Text,
    /// The lines of md-workbench, for its users' parsers.
    MdWorkbench,
    /// One line per phase and operation.
    Csv,
    /// Everything.
    Json,
}
