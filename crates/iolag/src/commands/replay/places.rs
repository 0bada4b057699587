//! Where a program is repeated: from what was typed to targets and maps.

use std::path::PathBuf;

use iolag_backend::Target;
use iolag_conduct::{Failure, absolute, refuse_other_than_directory};
use iolag_model::ReplayMap;

use crate::args::Replay;

/// Where a program is repeated.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Places {
    /// The directory of the program that each target stands for.
    pub base: String,
    /// The targets, which are compared if there are several.
    pub targets: Vec<Target>,
    /// Its other directories.
    pub maps: Vec<ReplayMap>,
}

impl Places {
    /// Those that were typed.
    ///
    /// # Errors
    /// If there are none, or it is not clear which are to be compared.
    pub(super) fn of(options: &Replay) -> Result<Self, Failure> {
        let several =
            |map: &&ReplayMap| options.maps.iter().filter(|other| other.from == map.from).count() > 1;
        let base = match (
            options.targets.is_empty(),
            options.maps.iter().find(several).or(options.maps.first()),
        ) {
            (false, _) => "/".to_owned(),
            (true, Some(map)) => map.from.clone(),
            (true, None) => {
                return Err(Failure::usage(
                    "nothing says where to repeat it: name a directory below which everything lies that the program asked for, or map its \
                     directories (--map /afs/sw=/scratch/sw; --map /afs/sw=/afs/sw repeats it where it was)",
                ));
            }
        };
        let (own, maps): (Vec<&ReplayMap>, Vec<&ReplayMap>) =
            options.maps.iter().partition(|map| options.targets.is_empty() && map.from == base);
        if let Some(second) = maps.iter().copied().find(several) {
            return Err(Failure::usage(format!(
                "--map maps {} to several directories, and so does {}: compare one directory of the program at a time",
                second.from,
                if options.targets.is_empty() { base.clone() } else { "the list of targets".to_owned() }
            )));
        }
        let target = |map: &ReplayMap| Target::parse(&map.to).map_err(Failure::usage);
        let targets = match options.targets.is_empty() {
            true => own.into_iter().map(target).collect::<Result<Vec<_>, _>>()?,
            false => options.targets.clone(),
        };
        // As it will be where a copy stands, which is elsewhere.
        let whole = |target: &Target| -> Result<Target, Failure> {
            Ok(target.with_directory(&absolute(refuse_other_than_directory(target)?)))
        };
        Ok(Self {
            targets: targets.iter().map(whole).collect::<Result<_, _>>()?,
            maps: maps
                .into_iter()
                .map(|map| {
                    let to = absolute(std::path::Path::new(&map.to));
                    let to = to.to_str().map(str::to_owned).ok_or_else(|| {
                        Failure::usage(format!(
                            "--map {}={}: the path {} is no UTF-8, which a map has to be: go to another directory, or name it by a link",
                            map.from,
                            map.to,
                            to.display()
                        ))
                    })?;
                    Ok(ReplayMap { to, ..map.clone() })
                })
                .collect::<Result<_, Failure>>()?,
            base,
        })
    }

    /// The directories that are targets.
    pub(super) fn directories(&self) -> Result<Vec<PathBuf>, Failure> {
        let directory = |target| refuse_other_than_directory(target).map(std::path::Path::to_owned);
        self.targets.iter().map(directory).collect()
    }

    /// The directories of the program that are mapped.
    pub(super) fn mapped(&self) -> String {
        let all: Vec<&str> = std::iter::once(self.base.as_str())
            .chain(self.maps.iter().map(|map| map.from.as_str()))
            .collect();
        all.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Arguments, Command};
    use clap::Parser;

    fn places(words: &[&str]) -> Result<Places, String> {
        let all = ["iolag", "replay", "x.iolag"].iter().chain(words);
        let Command::Replay(options) = Arguments::try_parse_from(all).unwrap().command else { panic!() };
        Places::of(&options).map_err(|failure| failure.sentence)
    }

    fn names(places: &Places) -> Vec<String> {
        places.targets.iter().map(Target::to_string).collect()
    }

    #[test]
    fn a_directory_stands_for_the_root_and_a_map_for_what_it_maps() {
        let plain = places(&["/a", "/b"]).unwrap();
        assert_eq!((plain.base.as_str(), names(&plain)), ("/", vec!["/a".to_owned(), "/b".to_owned()]));
        let mapped = places(&["--map", "/afs/x=/c", "--map", "/usr=/usr"]).unwrap();
        assert_eq!((mapped.base.as_str(), names(&mapped)), ("/afs/x", vec!["/c".to_owned()]));
        assert_eq!(mapped.maps, [ReplayMap { from: "/usr".into(), to: "/usr".into() }]);
        assert_eq!(mapped.mapped(), "/afs/x, /usr");
        let several = places(&["--map", "/usr=/usr", "--map", "/afs/x=/c", "--map", "/afs/x=/d"]).unwrap();
        assert_eq!(
            (several.base.as_str(), names(&several)),
            ("/afs/x", vec!["/c".to_owned(), "/d".to_owned()])
        );
        let both = places(&["/a", "--map", "/usr=/usr"]).unwrap();
        assert_eq!((both.base.as_str(), both.maps.len()), ("/", 1));
    }

    #[test]
    fn what_is_not_clear_is_refused_with_what_to_say() {
        assert!(places(&[]).unwrap_err().starts_with("nothing says where to repeat it"));
        let twice = ["--map", "/a=/1", "--map", "/a=/2", "--map", "/b=/3", "--map", "/b=/4"];
        assert!(places(&twice).unwrap_err().contains("compare one directory of the program at a time"));
        assert!(places(&["memory:"]).unwrap_err().contains("name a directory"));
        assert!(places(&["delayed:1ms:/x"]).unwrap_err().contains("name a directory"));
    }
}
