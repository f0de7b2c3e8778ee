//! a-tree: filters are expressions in its own language; an event is parsed and handed over attribute by attribute.

use a_tree::{ATree, AttributeDefinition, Event};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Instant;
use tidings_peers::{Predicate, Workload, answer};

fn main() {
    let workload = Workload::read();
    let definitions: Vec<AttributeDefinition> = workload
        .attributes
        .iter()
        .map(|(name, text)| if *text { AttributeDefinition::string(name) } else { AttributeDefinition::integer(name) })
        .collect();
    let is_text: HashMap<&str, bool> = workload.attributes.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let expressions: Vec<String> = workload.filters.iter().map(|filter| expression(filter)).collect();
    let started = Instant::now();
    let mut tree = ATree::<u32>::new(&definitions).expect("a-tree refuses the attributes");
    for (number, expression) in expressions.iter().enumerate() {
        tree.insert(&(number as u32), expression).expect("a-tree refuses an expression");
    }
    answer(started.elapsed(), &workload.events, |bytes| {
        let event = event(&tree, &is_text, bytes);
        tree.search(&event).expect("a-tree cannot search").matches().len()
    });
}

fn expression(filter: &[Predicate]) -> String {
    let terms: Vec<String> = filter
        .iter()
        .map(|predicate| {
            let value = match &predicate.value {
                Value::String(text) => format!("'{text}'"),
                number => number.to_string(),
            };
            format!("{} {} {}", predicate.attribute, predicate.operator, value)
        })
        .collect();
    terms.join(" and ")
}

fn event(tree: &ATree<u32>, is_text: &HashMap<&str, bool>, bytes: &[u8]) -> Event {
    let read: Value = serde_json::from_slice(bytes).expect("an event is not JSON");
    let mut builder = tree.make_event();
    for (name, value) in read["attributes"].as_object().expect("no attributes") {
        if is_text[name.as_str()] {
            builder.with_string(name, value.as_str().expect("not text")).expect("a-tree refuses a value");
        } else {
            builder.with_integer(name, value.as_i64().expect("not an integer")).expect("a-tree refuses a value");
        }
    }
    builder.build().expect("a-tree refuses an event")
}
