//! How a table of findings becomes types: a row for each kind, with what may be found of it.

/// Makes of a table the enum of what may be found, the enum of kinds in the order of rows, and a macro that evaluates an expression of whatever was
/// found. A row: what the kind is about, its name, whether it tells or concludes, and what is found of it, each with the type of its values.
macro_rules! findings {
    (
        $dollar:tt $found:ident, $kind_of:ident, $whatever:ident:
        $($(#[$about:meta])* $kind:ident: $basis:ident { $($variant:ident($held:ident)),* })*
    ) => {
        /// What was found, with its values.
        #[derive(Debug, Clone, PartialEq)]
        pub enum $found {
            $($(#[doc = concat!("See [`", stringify!($held), "`].")] $variant($held),)*)*
        }

        /// What a finding is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $kind_of {
            $($(#[$about])* $kind,)*
        }

        impl $kind_of {
            /// All kinds, in their order.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Whether it tells or concludes.
            pub const fn basis(self) -> $crate::Basis {
                match self { $(Self::$kind => $crate::Basis::$basis,)* }
            }
        }

        impl $crate::finding::WasFound for $found {
            type Kind = $kind_of;

            fn kind(&self) -> $kind_of {
                match self { $($(Self::$variant(_) => $kind_of::$kind,)*)* }
            }
        }

        /// The expression of whatever was found.
        #[macro_export]
        macro_rules! $whatever {
            ($dollar found:expr, $dollar it:ident => $dollar told:expr) => {
                match $dollar found { $($($crate::$found::$variant($dollar it) => $dollar told,)*)* }
            };
        }
    };
}

pub(crate) use findings;
