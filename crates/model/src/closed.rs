//! Enums whose variants are stored as words.

/// Makes an enum of words that code reacts to: each variant with its spelling in stored files, and behind `|` the spellings that earlier
/// versions stored. A word of a newer Assay is read as `Other`: an older program has no reaction to it, and what stands beside it (a claim,
/// evidence, figures) still informs people.
macro_rules! closed {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal $(| $old:literal)*,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word $(, alias = $old)*)] $variant,)*
            /// A word that this version does not know.
            #[default]
            #[serde(other, rename = "other")]
            Other,
        }

        impl $name {
            /// Every variant that has a word.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// The word in stored files.
            pub const fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)*
                    $name::Other => "other",
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

pub(crate) use closed;

#[cfg(test)]
mod tests {
    closed! {
        /// For the test.
        Colour {
            /// Renamed once, and twice.
            Grey = "grey" | "gray" | "pale",
            /// Never renamed.
            Green = "green",
        }
    }

    #[test]
    fn a_word_is_read_by_every_spelling_that_was_stored_and_written_by_its_own() {
        let read = |word: &str| serde_json::from_value::<Colour>(word.into()).expect("a word");
        assert_eq!(["grey", "gray", "pale"].map(read), [Colour::Grey; 3]);
        assert_eq!([read("green"), read("mauve")], [Colour::Green, Colour::Other]);
        assert_eq!(serde_json::to_value(Colour::Grey).expect("a word"), Colour::Grey.word());
        assert_eq!(Colour::ALL, [Colour::Grey, Colour::Green]);
    }
}
