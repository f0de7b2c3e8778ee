//! quamina: patterns are JSON, events are matched as the bytes they come in.

use quamina::Quamina;
use serde_json::{Map, Value, json};
use std::time::Instant;
use tidings_peers::{Predicate, Workload, answer};

fn main() {
    let workload = Workload::read();
    let patterns: Vec<String> = workload.filters.iter().map(|filter| pattern(filter)).collect();
    let started = Instant::now();
    let mut index = Quamina::<u32>::new();
    for (number, pattern) in patterns.iter().enumerate() {
        index.add_pattern(number as u32, pattern).expect("quamina refuses a pattern");
    }
    answer(started.elapsed(), &workload.events, |event| {
        index.matches_for_event(event).expect("quamina refuses an event").len()
    });
}

fn pattern(filter: &[Predicate]) -> String {
    let mut fields = Map::new();
    for predicate in filter {
        let value = &predicate.value;
        let asked = match predicate.operator.as_str() {
            "=" => value.clone(),
            operator => json!({ "numeric": [operator, value] }),
        };
        fields.insert(predicate.attribute.clone(), Value::Array(vec![asked]));
    }
    json!({ "attributes": fields }).to_string()
}
