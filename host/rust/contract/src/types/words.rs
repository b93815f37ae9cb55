//! Enums of the contract, with the names that the contract gives their cases.

/// An enum (or with payloads a variant) whose cases have these names where a component is called.
macro_rules! named {
    ($kind:ident: $(#[$meta:meta])* pub enum $type:ident { $($(#[$doc:meta])* $case:ident $(($payload:ty))? = $name:literal,)+ }) => {
        $(#[$meta])*
        #[cfg_attr(
            feature = "component-model",
            derive(wasmtime::component::ComponentType, wasmtime::component::Lift, wasmtime::component::Lower),
            component($kind)
        )]
        pub enum $type {
            $($(#[$doc])* #[cfg_attr(feature = "component-model", component(name = $name))] $case $(($payload))?,)+
        }
    };
}

/// An enum of plain words: `as_str`, `Display`, `FromStr`, and serde as that string.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $type:ident { $($(#[$doc:meta])* $case:ident = $name:literal,)+ }) => {
        $crate::types::words::named! {
            enum:
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
            #[repr(u8)]
            pub enum $type { $($(#[$doc])* #[serde(rename = $name)] $case = $name,)+ }
        }

        impl $type {
            /// The name, as in the contract.
            pub fn as_str(&self) -> &'static str {
                match self { $(Self::$case => $name),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::types::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($name => Ok(Self::$case),)+
                    _ => Err($crate::types::UnknownWord { word: word.to_owned(), known: &[$($name),+] }),
                }
            }
        }
    };
}

/// The same for an enum that a later version of the contract may extend: an unknown word is `Other`.
macro_rules! open_words {
    ($(#[$meta:meta])* pub enum $type:ident { $($(#[$doc:meta])* $case:ident = $name:literal,)+ }) => {
        $crate::types::words::named! {
            variant:
            $(#[$meta])*
            #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
            pub enum $type {
                $($(#[$doc])* #[serde(rename = $name)] $case = $name,)+
                /// A reason of a later version.
                #[serde(untagged)]
                Other(String) = "other",
            }
        }

        impl $type {
            /// The name, as in the contract; that of `Other` is its own text.
            pub fn as_str(&self) -> &str {
                match self { $(Self::$case => $name,)+ Self::Other(text) => text }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(crate) use {named, open_words, words};

/// A word that names nothing in an enum of the contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is none of {}", known.join(", "))]
pub struct UnknownWord {
    pub(crate) word: String,
    pub(crate) known: &'static [&'static str],
}
