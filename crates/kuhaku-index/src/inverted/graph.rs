//! A graph of near neighbours over the vectors of one class: HNSW (Malkov and Yashunin 2018, algorithms
//! 1, 2, 4 and 5).
//!
//! A function of the rows alone, taken by document id and ordinal: the layer of a node follows from its
//! number, nodes are linked one after the other, and what is compared are the exact cosines. So an index
//! that never held what a caller may not see has the same graph of what the caller sees (R4). Rows that
//! are equal share a node, since many of them would fill each other's links.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use kuhaku_core::{AccessTags, DocumentId};

use crate::document::Validity;
use crate::query::Filter;
use crate::vector::{Vector, dot};

/// Links of a node in the upper layers, at most; twice as many in the lowest.
const LINKS: usize = 16;
/// Nodes that are kept in mind when one is linked.
const BREADTH: usize = 128;
/// The same in a search, at least.
const SEARCHED: usize = 320;

/// A chunk of a graph.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) document: DocumentId,
    pub(super) ordinal: u32,
    pub(super) row: Vector,
}

/// How near a node is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Near {
    cosine: f32,
    node: u32,
}

impl Eq for Near {}

impl Ord for Near {
    /// The nearer is the greater; of equals, the earlier.
    fn cmp(&self, other: &Self) -> Ordering {
        self.cosine.total_cmp(&other.cosine).then_with(|| other.node.cmp(&self.node))
    }
}

impl PartialOrd for Near {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Which nodes a search has seen; forgotten without being cleared.
#[derive(Debug, Default)]
struct Seen {
    marks: Vec<u32>,
    now: u32,
}

impl Seen {
    fn with_room(nodes: usize) -> Self {
        Self { marks: vec![0; nodes], now: 0 }
    }

    fn forget(&mut self) {
        self.now = self.now.wrapping_add(1);
        if self.now == 0 {
            self.marks.fill(0);
            self.now = 1;
        }
    }

    /// True when the node was not seen before.
    fn mark(&mut self, node: u32) -> bool {
        let now = self.now;
        self.marks.get_mut(node as usize).is_some_and(|mark| std::mem::replace(mark, now) != now)
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Graph {
    tags: AccessTags,
    /// When all of its documents hold.
    holding: Validity,
    members: Vec<Member>,
    /// By node: the first of its members.
    rows: Vec<Vector>,
    /// By node: its members.
    groups: Vec<Vec<u32>>,
    /// By layer, the lowest first: the links of its nodes.
    layers: Vec<HashMap<u32, Vec<u32>>>,
    entry: u32,
}

impl Graph {
    /// The graph of some chunks, in whatever order they come.
    pub(super) fn build(tags: AccessTags, mut members: Vec<Member>) -> Self {
        members.sort_by(|a, b| (&a.document, a.ordinal).cmp(&(&b.document, b.ordinal)));
        let (rows, groups) = grouped(&members);
        let (holding, layers) = (Validity::always(), Vec::new());
        let mut graph = Self { tags, holding, members, rows, groups, layers, entry: 0 };
        let mut seen = Seen::with_room(graph.rows.len());
        for node in 0..graph.rows.len() as u32 {
            graph.link(node, &mut seen);
        }
        graph
    }

    /// Sets when all of its documents hold.
    pub(super) fn holding(mut self, when: Validity) -> Self {
        self.holding = when;
        self
    }

    /// Whether a filter is known to let all of its documents through: a graph leads to what is near,
    /// whether it passes or not.
    pub(super) fn passes(&self, filter: &Filter) -> bool {
        filter.doc_types.is_empty()
            && filter.metadata.is_empty()
            && filter.valid_on.is_none_or(|day| self.holding.holds_on(day))
    }

    /// The tags of its class.
    pub(super) fn tags(&self) -> &AccessTags {
        &self.tags
    }

    /// The chunks that are most likely the nearest, with their exact cosines: `limit` of them, or more
    /// of those that are equally near. Nothing when looking at all of them is better, or when the graph
    /// leads to too few.
    pub(super) fn nearest(&self, query: &Vector, limit: usize) -> Option<Vec<(f64, &Member)>> {
        let breadth = limit.saturating_mul(2).max(SEARCHED);
        let rows = self.rows.len();
        if (limit.saturating_mul(16) > rows || SEARCHED * 4 > rows) && rows > SMALL {
            return None;
        }
        let query = query.as_slice();
        let mut seen = Seen::with_room(self.rows.len());
        let mut near = self.near(query, self.entry)?;
        for layer in (1..self.layers.len()).rev() {
            near = self.descend(query, near, layer);
        }
        let found = self.search(query, &[near], breadth, 0, &mut seen);
        let mut nearest = Vec::with_capacity(limit.min(self.members.len()));
        for Near { cosine, node } in found {
            if nearest.len() >= limit {
                break;
            }
            let group = self.groups.get(node as usize)?;
            let members = group.iter().filter_map(|member| self.members.get(*member as usize));
            nearest.extend(members.map(|member| (f64::from(cosine), member)));
        }
        (nearest.len() >= limit.min(self.members.len())).then_some(nearest)
    }

    fn near(&self, query: &[f32], node: u32) -> Option<Near> {
        Some(Near { cosine: dot(query, self.rows.get(node as usize)?.as_slice()), node })
    }

    fn links(&self, layer: usize, node: u32) -> &[u32] {
        self.layers.get(layer).and_then(|layer| layer.get(&node)).map_or(&[], Vec::as_slice)
    }

    /// The nearest node that can be reached by going nearer at each step.
    fn descend(&self, query: &[f32], from: Near, layer: usize) -> Near {
        let mut best = from;
        loop {
            let links = self.links(layer, best.node).iter();
            let next = links.filter_map(|node| self.near(query, *node)).max();
            match next.filter(|next| *next > best) {
                Some(next) => best = next,
                None => return best,
            }
        }
    }

    /// The nearest nodes of a layer that are found from some, best first (algorithm 2).
    fn search(
        &self,
        query: &[f32],
        from: &[Near],
        breadth: usize,
        layer: usize,
        seen: &mut Seen,
    ) -> Vec<Near> {
        seen.forget();
        let mut open = BinaryHeap::new();
        let mut found: BinaryHeap<std::cmp::Reverse<Near>> = BinaryHeap::new();
        for near in from {
            if seen.mark(near.node) {
                open.push(*near);
                found.push(std::cmp::Reverse(*near));
            }
        }
        while let Some(nearest) = open.pop() {
            let worst = |found: &BinaryHeap<std::cmp::Reverse<Near>>| {
                found.peek().filter(|_| found.len() >= breadth).map(|worst| worst.0)
            };
            if worst(&found).is_some_and(|worst| nearest < worst) {
                break;
            }
            for node in self.links(layer, nearest.node) {
                if !seen.mark(*node) {
                    continue;
                }
                let Some(near) = self.near(query, *node) else { continue };
                if worst(&found).is_none_or(|worst| near > worst) {
                    open.push(near);
                    found.push(std::cmp::Reverse(near));
                    if found.len() > breadth {
                        found.pop();
                    }
                }
            }
        }
        found.into_sorted_vec().into_iter().map(|near| near.0).collect()
    }

    /// Links a node to those before it (algorithm 1).
    fn link(&mut self, node: u32, seen: &mut Seen) {
        let level = level(node);
        let Some(row) = self.rows.get(node as usize).cloned() else { return };
        let query = row.as_slice();
        let top = self.layers.len();
        if let Some(mut near) = self.near(query, self.entry).filter(|_| top > 0) {
            for layer in (level + 1..top).rev() {
                near = self.descend(query, near, layer);
            }
            let mut from = vec![near];
            for layer in (0..top.min(level + 1)).rev() {
                let found = self.search(query, &from, BREADTH, layer, seen);
                let chosen = self.chosen(&found, LINKS);
                for other in &chosen {
                    self.link_back(*other, node, layer);
                }
                if let Some(layer) = self.layers.get_mut(layer) {
                    layer.insert(node, chosen);
                }
                from = found;
            }
        }
        if level >= top {
            self.layers.resize_with(level + 1, HashMap::new);
            self.entry = node;
        }
    }

    /// Adds a link, and drops the worst when there are too many.
    fn link_back(&mut self, from: u32, to: u32, layer: usize) {
        let most = if layer == 0 { 2 * LINKS } else { LINKS };
        let Some(links) = self.layers.get_mut(layer).map(|layer| layer.entry(from).or_default())
        else {
            return;
        };
        links.push(to);
        if links.len() <= most {
            return;
        }
        let links = links.clone();
        let Some(row) = self.rows.get(from as usize) else { return };
        let mut near: Vec<Near> =
            links.iter().filter_map(|node| self.near(row.as_slice(), *node)).collect();
        near.sort_unstable_by(|a, b| b.cmp(a));
        let chosen = self.chosen(&near, most);
        if let Some(layer) = self.layers.get_mut(layer) {
            layer.insert(from, chosen);
        }
    }

    /// Which of some nodes, best first, to link to: those that no nearer one is a better way to, then the
    /// nearest of the others (algorithm 4).
    fn chosen(&self, found: &[Near], most: usize) -> Vec<u32> {
        let mut chosen: Vec<u32> = Vec::with_capacity(most);
        let mut others = Vec::new();
        for Near { cosine, node } in found {
            if chosen.len() >= most {
                break;
            }
            let Some(row) = self.rows.get(*node as usize) else { continue };
            let is_diverse = chosen.iter().all(|other| {
                self.near(row.as_slice(), *other).is_none_or(|near| near.cosine < *cosine)
            });
            if is_diverse {
                chosen.push(*node);
            } else {
                others.push(*node);
            }
        }
        let room = most.saturating_sub(chosen.len());
        chosen.extend(others.into_iter().take(room));
        chosen
    }
}

/// Below this looking at all is as good; graphs of so few are searched for tests only.
const SMALL: usize = 1_000;

/// Distinct rows in the order in which they first come, and who has each.
fn grouped(members: &[Member]) -> (Vec<Vector>, Vec<Vec<u32>>) {
    let mut rows: Vec<Vector> = Vec::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut known: HashMap<u64, Vec<u32>> = HashMap::with_capacity(members.len());
    for (at, member) in (0_u32..).zip(members) {
        let alike = known.entry(mixed_row(&member.row)).or_default();
        let same = alike.iter().find(|node| rows.get(**node as usize) == Some(&member.row));
        match same.and_then(|node| groups.get_mut(*node as usize)) {
            Some(group) => group.push(at),
            None => {
                alike.push(rows.len() as u32);
                rows.push(member.row.clone());
                groups.push(vec![at]);
            }
        }
    }
    (rows, groups)
}

fn mixed_row(row: &Vector) -> u64 {
    row.as_slice().iter().fold(0, |sum, number| mixed(sum ^ u64::from(number.to_bits())))
}

/// Numbers that look random: splitmix64 (Steele, Lea and Flood 2014, figure 16).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The highest layer of a node: each holds a sixteenth of the one below it.
fn level(node: u32) -> usize {
    (mixed(u64::from(node)).trailing_zeros() / LINKS.ilog2()) as usize
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    /// Rows about some centres, a few of them more than once.
    fn members(count: usize) -> Vec<Member> {
        let noise = |seed: usize, at: usize| {
            (mixed((seed * 64 + at) as u64) >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let row = |number: usize| {
            let centre = number % 40;
            let own = if number % 50 == 7 { 3 } else { number };
            let at = |at| noise(centre + 1_000_000, at) + 0.8 * noise(own, at);
            Vector::new((0..64).map(at).collect()).unwrap()
        };
        let member = |number: usize| Member {
            document: DocumentId::new(format!("d{}", number * 7_919 % count)).unwrap(),
            ordinal: 0,
            row: row(number),
        };
        (0..count).map(member).collect()
    }

    fn names(found: &[(f64, &Member)]) -> Vec<(u64, String)> {
        found.iter().map(|(cosine, of)| (cosine.to_bits(), of.document.to_string())).collect()
    }

    #[test]
    fn a_graph_serves_a_day_on_which_all_of_its_documents_hold() {
        let day = |text: &str| text.parse().unwrap();
        let first = Validity::between(Some(day("2024-02-01")), None);
        let second = Validity::between(Some(day("2024-01-01")), Some(day("2024-03-31")));
        let graph = Graph::build(AccessTags::none(), Vec::new());
        let graph = graph.holding(first.and(&second).and(&Validity::always()));
        for (at, serves) in [
            ("2024-01-31", false),
            ("2024-02-01", true),
            ("2024-03-31", true),
            ("2024-04-01", false),
        ] {
            assert_eq!(graph.passes(&Filter::none().valid_on(day(at))), serves, "{at}");
        }
        assert!(graph.passes(&Filter::none()));
        assert!(!graph.passes(&Filter::none().doc_type("note")));
        let graph = graph.holding(first.and(&Validity::always().obsolete(true)));
        assert!(!graph.passes(&Filter::none().valid_on(day("2024-03-01"))));
    }

    #[test]
    fn nearly_all_that_is_near_is_found_with_its_exact_cosine() {
        let members = members(4_000);
        let graph = Graph::build(AccessTags::none(), members.clone());
        let (mut found, mut all) = (0, 0);
        for query in members.iter().step_by(97) {
            let nearest = graph.nearest(&query.row, 10).unwrap();
            let cosine =
                |member: &Member| f64::from(dot(query.row.as_slice(), member.row.as_slice()));
            assert!(nearest.iter().all(|(score, member)| *score == cosine(member)));
            let mut exact: Vec<f64> = members.iter().map(cosine).collect();
            exact.sort_by(|a, b| b.total_cmp(a));
            all += 10;
            found += nearest.iter().filter(|(score, _)| *score >= exact[9]).take(10).count();
        }
        assert!(found * 100 >= all * 98, "{found} of {all}");
    }

    /// R4
    #[test]
    fn a_graph_does_not_depend_on_the_order_in_which_its_rows_come() {
        let (one, mut two) = (members(500), members(500));
        two.reverse();
        two.rotate_left(123);
        let query = one[11].row.clone();
        let graphs = [one, two].map(|members| Graph::build(AccessTags::none(), members));
        let [one, two] = graphs.each_ref().map(|graph| graph.nearest(&query, 40).unwrap());
        assert_eq!(names(&one), names(&two));
        assert_eq!(graphs[0].layers, graphs[1].layers);
    }

    #[test]
    fn equal_rows_share_a_node_and_are_all_found() {
        let mut members = members(60);
        let row = members[0].row.clone();
        members.iter_mut().for_each(|member| member.row = row.clone());
        let graph = Graph::build(AccessTags::none(), members);
        assert_eq!((graph.rows.len(), graph.nearest(&row, 60).unwrap().len()), (1, 60));
    }
}
