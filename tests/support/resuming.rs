//! Going on with a session, against a model server that plays a script.

use rustix::process::Signal;
use serde_json::Value;

use super::limpid::World;
use super::pty::Screen;
use super::server::{Request, Server};

pub fn on(server: &Server) -> Vec<String> {
    ["--url", &server.url(), "--model", "m"].map(str::to_owned).to_vec()
}

pub fn start(world: &World, server: &Server, more: &[&str]) -> Screen {
    let arguments = on(server);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(more.to_vec()).collect();
    Screen::start(world, &arguments, 120, 40)
}

pub fn resume(world: &World, server: &Server, more: &[&str]) -> Screen {
    let arguments = on(server);
    let arguments = arguments.iter().map(String::as_str).chain(more.to_vec());
    let arguments: Vec<&str> = std::iter::once("resume").chain(arguments).collect();
    let mut screen = Screen::open(world, &arguments, 120, 40, &[]);
    screen.shows("resumed: every command asks again");
    screen.rests();
    screen
}

pub fn kill(mut screen: Screen) {
    screen.signal(Signal::KILL);
    screen.end();
}

pub fn quit(mut screen: Screen) -> String {
    screen.keys("\x04");
    assert!(screen.end().success());
    assert!(screen.is_restored());
    screen.said()
}

pub fn messages(request: &Request) -> Vec<Value> {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    body["messages"].as_array().unwrap().clone()
}

/// What a strict server demands: each call has its one result, right after it and in order.
pub fn is_strict(messages: &[Value]) -> bool {
    let mut open: Vec<&Value> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            if open.is_empty() || *open.remove(0) != message["tool_call_id"] {
                return false;
            }
            continue;
        }
        if !open.is_empty() {
            return false;
        }
        let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
        open = calls.iter().map(|call| &call["id"]).collect();
    }
    open.is_empty()
}

/// What the model is told of its calls.
pub fn results(messages: &[Value]) -> Vec<&str> {
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap()).collect()
}

/// What a program says that opens no screen.
pub fn refused(world: &World, arguments: &[&str]) -> String {
    let mut screen = Screen::open(world, arguments, 200, 30, &[]);
    assert_eq!(screen.end().exit_code(), 2);
    screen.text()
}
