// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Algorithms of a source as values of its settings: a name, or with parameters as `bba:reservoir=0.4,upper=0.8`.

/// Makes the `Config` of the registry in scope a setting: `$what` is a member in messages, `$example` one with a parameter.
macro_rules! written {
    ($what:literal, $example:literal) => {
        impl $crate::settings::Setting for Config {
            const KIND: &'static str = "rule";
            const JSON: &'static [&'static str] = &["string"];

            fn read(raw: &$crate::settings::Raw) -> Result<Config, String> {
                use $crate::settings::{Raw, Refusal};
                use $crate::suggest::did_you_mean;

                let text = match raw {
                    Raw::Text(text) => text.as_str(),
                    _ => "",
                };
                let (name, settings) = text.split_once(':').unwrap_or((text, ""));
                let names: Vec<&str> = REGISTRY.iter().map(|entry| entry.name).collect();
                let unknown = || format!("{raw} is not {}: {}", $what, did_you_mean(name.trim(), &names));
                let mut config = Config::named(name.trim()).ok_or_else(unknown)?;
                for setting in settings.split(',').filter(|_| !settings.is_empty()) {
                    let (key, value) = setting.split_once('=').ok_or_else(|| {
                        format!("`{}` sets nothing: write settings as in `{}`", setting.trim(), $example)
                    })?;
                    config.set(key.trim(), &Raw::guess(value.trim())).map_err(|refusal| match refusal {
                        Refusal::Value(why) => format!("{}: {why}", key.trim()),
                        Refusal::Unknown => {
                            let known: Vec<&str> = config.defaults().map(|(known, _)| known).collect();
                            let help = did_you_mean(key.trim(), &known);
                            format!("{name} has no parameter `{}`: {help}", key.trim())
                        }
                    })?;
                }
                config.check().map(|()| config)
            }
        }

        impl Config {
            /// The names of its parameters, and their defaults.
            fn defaults(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
                let own = self.name();
                let entry = REGISTRY.iter().find(|entry| entry.name == own);
                entry.into_iter().flat_map(|entry| entry.fields).map(|field| (field.name, field.default()))
            }
        }

        impl ::std::fmt::Display for Config {
            fn fmt(&self, f: &mut ::std::fmt::Formatter) -> ::std::fmt::Result {
                f.write_str(self.name())?;
                let set = self.defaults().filter_map(|(name, default)| {
                    self.get(name).filter(|value| *value != default).map(|value| format!("{name}={value}"))
                });
                set.zip([":"].into_iter().chain(::std::iter::repeat(",")))
                    .try_for_each(|(set, mark)| write!(f, "{mark}{set}"))
            }
        }

        /// Its members have no order.
        impl PartialOrd for Config {
            fn partial_cmp(&self, other: &Config) -> Option<::std::cmp::Ordering> {
                (self == other).then_some(::std::cmp::Ordering::Equal)
            }
        }
    };
}

pub(super) use written;
