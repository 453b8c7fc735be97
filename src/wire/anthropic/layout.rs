//! The body of a request to Anthropic's Messages: the system text stands outside the messages,
//! neighbours of one role share a message (all results of a turn stand in one `user` message), and
//! cache markers stand on the system text, the tools and the last two `user` messages.

use crate::conversation::{Origin, Part, Slot};
use crate::wire::assemble::{Piece, Step, envelope, model, within};
use crate::wire::{Settings, json};

/// What a reply may take when the user has set nothing: the format requires a number.
const MAX_TOKENS: u32 = 8192;

const MARKER: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";

/// The body in order.
pub(in crate::wire) fn lay_out(settings: &Settings, pieces: &[Piece]) -> Vec<Step> {
    let (system, told): (Vec<Piece>, Vec<Piece>) =
        pieces.iter().partition(|piece| piece.role == "system");
    let mut steps = vec![Step::Frame(envelope("{\"model\":")), Step::Frame(model(settings))];
    if !system.is_empty() {
        steps.push(Step::Frame(envelope(",\"system\":")));
        blocks(&mut steps, &Slot::System, ("[", "]"), Slot::System, &system, true);
    }
    steps.extend(tools(settings).into_iter().map(Step::Frame));
    steps.push(Step::Frame(envelope(",\"messages\":[")));
    messages(&mut steps, &told);
    steps.push(Step::Frame(envelope(format!("]{}}}", parameters(settings)))));
    steps
}

fn messages(steps: &mut Vec<Step>, told: &[Piece]) {
    let groups: Vec<&[Piece]> = told.chunk_by(|one, next| one.role == next.role).collect();
    let is_user = |group: &&[Piece]| group.first().is_some_and(|piece| piece.role == "user");
    let users = groups.iter().filter(|group| is_user(group)).count();
    // The first message has to be the user's.
    if groups.first().is_some_and(|group| !is_user(group)) {
        let text = "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[The conversation goes on.]\"}]}";
        steps.push(Step::Frame(Part {
            origin: Origin::Repair,
            ..within(Slot::MessageStart("user".to_owned()), text)
        }));
        steps.push(Step::Frame(envelope(",")));
    }
    let mut users_so_far = 0;
    for (position, group) in groups.iter().enumerate() {
        if position > 0 {
            steps.push(Step::Frame(envelope(",")));
        }
        users_so_far += usize::from(is_user(group));
        let marked = is_user(group) && users_so_far + 2 > users;
        let role = group.first().map_or("user", |piece| piece.role);
        let open = format!("{{\"role\":\"{role}\",\"content\":[");
        let start = Slot::MessageStart(role.to_owned());
        blocks(steps, &start, (&open, "]}"), Slot::MessageRest, group, marked);
    }
}

/// A list of blocks with its brackets, and with a marker on the last one.
fn blocks(
    steps: &mut Vec<Step>,
    start: &Slot,
    (open, close): (&str, &str),
    rest: Slot,
    pieces: &[Piece],
    marked: bool,
) {
    steps.push(Step::Frame(within(start.clone(), open)));
    for (position, piece) in pieces.iter().enumerate() {
        if position > 0 {
            steps.push(Step::Frame(within(rest.clone(), "},")));
        }
        steps.push(Step::Entry(*piece));
    }
    if marked {
        steps.push(Step::Frame(within(rest.clone(), MARKER)));
    }
    steps.push(Step::Frame(within(rest, format!("}}{close}"))));
}

fn tools(settings: &Settings) -> Vec<Part> {
    if settings.tools.is_empty() {
        return Vec::new();
    }
    let tools: Vec<String> = settings
        .tools
        .iter()
        .map(|tool| {
            let (name, description) = (json(tool.name), json(tool.description));
            let schema = tool.parameters;
            format!("{{\"name\":{name},\"description\":{description},\"input_schema\":{schema}")
        })
        .collect();
    let text = format!("[{}", tools.join("},"));
    vec![
        envelope(",\"tools\":"),
        Part { origin: Origin::Tools, ..within(Slot::Tools, text) },
        within(Slot::Tools, MARKER),
        within(Slot::Tools, "}]"),
    ]
}

/// The members that follow the messages.
fn parameters(settings: &Settings) -> String {
    let Settings { dialect, parameters, tools, .. } = settings;
    // Thinking counts as part of the reply.
    let most = MAX_TOKENS.saturating_add(parameters.thinking_budget.unwrap_or(0));
    let most = parameters.max_tokens.unwrap_or(most);
    let mut text = format!(",\"stream\":true,\"max_tokens\":{most}");
    if let Some(temperature) = parameters.temperature {
        text.push_str(&format!(",\"temperature\":{}", json(&temperature)));
    }
    if let Some(budget) = parameters.thinking_budget {
        text.push_str(&format!(
            ",\"thinking\":{{\"type\":\"enabled\",\"budget_tokens\":{budget}}}"
        ));
    }
    if let Some(effort) = &parameters.effort {
        text.push_str(&format!(",\"output_config\":{{\"effort\":{}}}", json(effort)));
    }
    if let Some(parallel) = dialect.parallel_calls
        && !tools.is_empty()
    {
        let disabled = !parallel;
        text.push_str(&format!(
            ",\"tool_choice\":{{\"type\":\"auto\",\"disable_parallel_tool_use\":{disabled}}}"
        ));
    }
    text
}
