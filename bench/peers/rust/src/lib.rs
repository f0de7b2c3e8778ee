//! What every peer needs: the workload from a file, and the loop that answers rounds.

use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::time::{Duration, Instant};

pub struct Predicate {
    pub attribute: String,
    pub operator: String,
    pub value: Value,
}

pub struct Workload {
    /// Names, and whether the values are text (else they are integers).
    pub attributes: Vec<(String, bool)>,
    pub filters: Vec<Vec<Predicate>>,
    /// JSON, as Tidings gets it too.
    pub events: Vec<Vec<u8>>,
}

impl Workload {
    /// From the file that the benchmark writes: a header, a line for each filter, a line for each event.
    pub fn read() -> Workload {
        let path = std::env::args().nth(1).expect("usage: PROGRAM FILE");
        let mut lines = BufReader::new(File::open(path).expect("the workload cannot be read")).lines();
        let mut next = || lines.next().expect("the workload ends too early").expect("not text");
        let header: Value = serde_json::from_str(&next()).expect("the header is not JSON");
        let attributes = header["attributes"].as_array().expect("no attributes").iter();
        let attributes = attributes.map(|one| (text(&one[0]), one[1] == "text")).collect();
        let size = |name: &str| header[name].as_u64().expect("no size");
        let filters = (0..size("filters")).map(|_| filter(&next())).collect();
        let events = (0..size("events")).map(|_| next().into_bytes()).collect();
        Workload { attributes, filters, events }
    }
}

fn filter(line: &str) -> Vec<Predicate> {
    let read: Value = serde_json::from_str(line).expect("a filter is not JSON");
    let predicates = read.as_array().expect("a filter is a list").iter();
    predicates
        .map(|one| Predicate { attribute: text(&one[0]), operator: text(&one[1]), value: one[2].clone() })
        .collect()
}

pub fn text(value: &Value) -> String {
    value.as_str().expect("not text").to_string()
}

/// Says how long it took to build. Then each line `EVENTS SECONDS` of standard input is a round: the first events are
/// matched one after the other until the time is over.
pub fn answer(build: Duration, events: &[Vec<u8>], matches: impl Fn(&[u8]) -> usize) {
    let mut out = io::stdout();
    writeln!(out, "{}", json!({ "build_s": build.as_secs_f64() })).expect("nobody listens");
    for line in io::stdin().lock().lines() {
        let line = line.expect("not text");
        let (most, seconds) = line.split_once(' ').expect("a round is EVENTS SECONDS");
        let most: usize = most.parse().expect("EVENTS is not a number");
        let limit = Duration::from_secs_f64(seconds.parse().expect("SECONDS is not a number"));
        let mut counts = Vec::with_capacity(most);
        let started = Instant::now();
        for event in &events[..most.min(events.len())] {
            counts.push(matches(event));
            if counts.len() % 16 == 0 && started.elapsed() > limit {
                break;
            }
        }
        let spent = started.elapsed().as_secs_f64();
        writeln!(out, "{}", json!({ "seconds": spent, "counts": counts })).expect("nobody listens");
    }
}
