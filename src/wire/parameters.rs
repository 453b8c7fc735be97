//! What the user sets for every request: read from words, shown in words, and what a format cannot
//! say of it. Which member each becomes is in the format's own folder.

use super::Format;
use crate::conversation::Parameter;

/// What the user sets for every request; `None` leaves the server's default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    /// How freely the model chooses; mostly 0 to 2.
    pub temperature: Option<f64>,
    /// Tokens that a reply may take.
    pub max_tokens: Option<u32>,
    /// How hard a reasoning model thinks, in the server's words (`low`, `high` …).
    pub effort: Option<String>,
    /// Tokens that a model may think (Anthropic).
    pub thinking_budget: Option<u32>,
}

/// The smallest budget that Anthropic takes.
const SMALLEST_BUDGET: u32 = 1024;

impl Parameters {
    /// The value in words, if it is set.
    pub fn get(&self, parameter: Parameter) -> Option<String> {
        match parameter {
            Parameter::Temperature => self.temperature.map(|value| value.to_string()),
            Parameter::MaxTokens => self.max_tokens.map(|value| value.to_string()),
            Parameter::Effort => self.effort.clone(),
            Parameter::ThinkingBudget => self.thinking_budget.map(|value| value.to_string()),
        }
    }

    /// Sets a value from words; `None` leaves it to the server.
    ///
    /// # Errors
    /// What the value should be instead; nothing is changed.
    pub fn set(&mut self, parameter: Parameter, words: Option<&str>) -> Result<(), String> {
        match parameter {
            Parameter::Temperature => self.temperature = words.map(number).transpose()?,
            Parameter::MaxTokens => self.max_tokens = words.map(tokens).transpose()?,
            Parameter::Effort => self.effort = words.map(word).transpose()?,
            Parameter::ThinkingBudget => self.thinking_budget = words.map(tokens).transpose()?,
        }
        Ok(())
    }

    /// The parameters that are set and that this format has no member for.
    pub fn unsent(&self, format: Format) -> impl Iterator<Item = Parameter> {
        let unsent = self.thinking_budget.is_some() && format != Format::Anthropic;
        unsent.then_some(Parameter::ThinkingBudget).into_iter()
    }

    /// What becomes of a parameter that is not set.
    pub fn unset(&self, parameter: Parameter, format: Format) -> &'static str {
        match (parameter, format) {
            (Parameter::MaxTokens, Format::Anthropic) => "8192 is sent: the format needs a number",
            _ => "left to the server",
        }
    }

    /// What the user should know of a parameter that is set: that it is not sent, or that the server
    /// will refuse it.
    pub fn remark(&self, parameter: Parameter, format: Format) -> Option<String> {
        if self.unsent(format).any(|unsent| unsent == parameter) {
            return Some(not_sent(parameter, format));
        }
        let budget = self.thinking_budget.filter(|_| format == Format::Anthropic)?;
        match parameter {
            Parameter::Temperature => self
                .temperature
                .filter(|temperature| (temperature - 1.0).abs() > f64::EPSILON)
                .map(|_| "temperature must be 1 where there is a thinking_budget".to_owned()),
            Parameter::MaxTokens => self
                .max_tokens
                .filter(|most| *most <= budget)
                .map(|_| "max_tokens must be more than the thinking_budget".to_owned()),
            Parameter::ThinkingBudget if budget < SMALLEST_BUDGET => {
                Some(format!("thinking_budget must be {SMALLEST_BUDGET} or more"))
            }
            Parameter::ThinkingBudget | Parameter::Effort => None,
        }
    }
}

/// That a parameter is not sent, and why.
pub(super) fn not_sent(parameter: Parameter, format: Format) -> String {
    format!("{} is not sent: {} has no member for it", parameter.name(), format.name())
}

fn number(words: &str) -> Result<f64, String> {
    let number = words.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "must be a number from 0 up".to_owned())
}

fn tokens(words: &str) -> Result<u32, String> {
    let tokens = words.parse().ok().filter(|tokens| *tokens >= 1);
    tokens.ok_or_else(|| "must be a whole number from 1 up".to_owned())
}

fn word(words: &str) -> Result<String, String> {
    let is_word = !words.is_empty() && !words.chars().any(|c| c.is_whitespace() || c.is_control());
    is_word.then(|| words.to_owned()).ok_or_else(|| "must be one word (low, high …)".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_shown_and_nonsense_changes_nothing() {
        let mut parameters = Parameters::default();
        let cases = [
            (Parameter::Temperature, "0.2", ["", "warm", "-1"].as_slice()),
            (Parameter::MaxTokens, "100", &["0", "1.5", "many", "NaN"]),
            (Parameter::Effort, "high", &["", "very high", "a\u{1b}b"]),
            (Parameter::ThinkingBudget, "2048", &["-1", "4294967296"]),
        ];
        for (parameter, good, bad) in cases {
            assert_eq!(parameters.get(parameter), None);
            assert_eq!(parameters.set(parameter, Some(good)), Ok(()));
            for words in bad.iter().chain(["inf", "NaN"].iter().filter(|_| good != "high")) {
                assert!(parameters.set(parameter, Some(words)).is_err(), "{words}");
            }
            assert_eq!(parameters.get(parameter).as_deref(), Some(good));
        }
        for parameter in Parameter::ALL {
            assert_eq!(parameters.set(parameter, None), Ok(()));
        }
        assert_eq!(parameters, Parameters::default());
    }

    #[test]
    fn what_a_format_cannot_say_or_will_refuse_is_said() {
        let parameters = Parameters {
            temperature: Some(0.2),
            max_tokens: Some(100),
            effort: Some("low".to_owned()),
            thinking_budget: Some(500),
        };
        let remarks = |format| Parameter::ALL.map(|parameter| parameters.remark(parameter, format));
        for format in [Format::OpenaiChat, Format::OpenaiResponses] {
            let name = format.name();
            let not_sent = format!("thinking_budget is not sent: {name} has no member for it");
            assert_eq!(remarks(format), [None, None, None, Some(not_sent)]);
        }
        let [temperature, most, effort, budget] = remarks(Format::Anthropic);
        assert!(temperature.unwrap().contains("temperature must be 1"));
        assert!(most.unwrap().contains("more than the thinking_budget"));
        assert_eq!(effort, None);
        assert!(budget.unwrap().contains("1024"));
    }
}
