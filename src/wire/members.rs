//! The members of a JSON object in their order and with their values as written, so that an object
//! that only a server understands can be put together from its pieces and sent back unchanged.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::json;

/// An object, of which only the named members are ever changed.
#[derive(Debug, Default)]
pub struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    /// Reads an object; empty if the JSON is anything else.
    pub fn of(json: &str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    /// The members in their order, values as written.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), &**value))
    }

    /// Sets a member; what is not JSON is left alone.
    pub(super) fn set(&mut self, name: &str, json: &str) {
        let Ok(value) = RawValue::from_string(json.to_owned()) else { return };
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Sets a member to a text.
    pub(super) fn set_text(&mut self, name: &str, text: &str) {
        self.set(name, &json(text));
    }

    /// Adds what a delta holds: texts go to the end of texts, anything else takes its place.
    pub(super) fn add(&mut self, name: &str, value: &RawValue) {
        let text = |raw: &RawValue| serde_json::from_str::<String>(raw.get()).ok();
        let known = self.iter().find(|(known, _)| *known == name);
        match (known.and_then(|(_, old)| text(old)), text(value)) {
            (Some(old), Some(more)) => self.set_text(name, &(old + &more)),
            _ => self.set(name, value.get()),
        }
    }

    pub(super) fn to_json(&self) -> String {
        let members: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{}:{}", json(name), value.get())).collect();
        format!("{{{}}}", members.join(","))
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_digits_stay() {
        let text = r#"{"z":1.50e3,"a":{"b": [1,  2]},"é":"\u00e9"}"#;
        assert_eq!(Members::of(text).to_json(), text);
    }

    #[test]
    fn members_are_set_and_added_to() {
        let mut members = Members::of(r#"{"type":"x","text":null,"input":{}}"#);
        members.add("text", &RawValue::from_string("\"a\"".to_owned()).unwrap());
        members.add("text", &RawValue::from_string("\"b\"".to_owned()).unwrap());
        members.set("input", r#"{"n":1.0}"#);
        members.set("input", "{oops");
        assert_eq!(members.to_json(), r#"{"type":"x","text":"ab","input":{"n":1.0}}"#);
    }

    #[test]
    fn what_is_no_object_has_no_members() {
        for json in ["[]", "7", "", "{"] {
            assert_eq!(Members::of(json).iter().count(), 0, "{json}");
        }
    }
}
