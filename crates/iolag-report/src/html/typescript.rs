//! What the scripts of the pages read, as types of TypeScript: `cargo xtask types` writes them into `web/src/generated`.

use std::collections::BTreeMap;

use ts_rs::{Config, TS, TypeVisitor};

use super::{embed, history};

/// The modules, with the names of their files.
pub fn typescript() -> [(&'static str, String); 2] {
    [
        ("run.ts", module_of::<embed::Document<'static>>()),
        ("history.ts", module_of::<history::document::Document<'static>>()),
    ]
}

fn module_of<T: TS + 'static>() -> String {
    let config = Config::new().with_large_int("number");
    let mut declarations = Declarations { config, by_name: BTreeMap::new() };
    declarations.visit::<T>();
    let declarations: Vec<String> = declarations.by_name.into_values().collect();
    let head =
        "// Made by `cargo xtask types` from the types of iolag-report, iolag-analysis and iolag-model.";
    format!("{head}\n\n{}", declarations.join("\n").replace(" \n", "\n"))
}

/// Everything that a type is made of.
struct Declarations {
    config: Config,
    by_name: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Numbers, texts and lists are not declared; what a list holds may be.
        if T::output_path().is_some() {
            let declaration = format!("{}export {}\n", T::docs().unwrap_or_default(), T::decl(&self.config));
            if self.by_name.insert(T::ident(&self.config), declaration).is_some() {
                return;
            }
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}
