//! Cycles of files: each uses names of the next, and the last uses names of the first.

use crate::Arrows;

/// Sets of two or more files, each of which can be reached from every other in its set (Tarjan,
/// 1972); the largest set first.
pub(crate) fn cycles(files: usize, arrows: &Arrows) -> Vec<Vec<usize>> {
    let mut search = Search {
        next: vec![Vec::new(); files],
        index: vec![None; files],
        low: vec![0; files],
        is_open: vec![false; files],
        open: Vec::new(),
        seen: 0,
        found: Vec::new(),
    };
    for &(from, to) in arrows {
        search.next[from].push(to);
    }
    for file in 0..files {
        if search.index[file].is_none() {
            search.visit(file);
        }
    }
    search.found.sort_by_key(|cycle| (usize::MAX - cycle.len(), cycle[0]));
    search.found
}

struct Search {
    next: Vec<Vec<usize>>,
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    seen: usize,
    found: Vec<Vec<usize>>,
}

impl Search {
    /// Recursion is as deep as the longest chain of files, which is some hundreds.
    fn visit(&mut self, file: usize) {
        let index = self.seen;
        self.seen += 1;
        self.index[file] = Some(index);
        self.low[file] = index;
        self.open.push(file);
        self.is_open[file] = true;
        for place in 0..self.next[file].len() {
            let to = self.next[file][place];
            match self.index[to] {
                None => {
                    self.visit(to);
                    self.low[file] = self.low[file].min(self.low[to]);
                }
                Some(index) if self.is_open[to] => self.low[file] = self.low[file].min(index),
                Some(_) => {}
            }
        }
        if self.low[file] == index {
            self.close(file);
        }
    }

    fn close(&mut self, first: usize) {
        let mut cycle = Vec::new();
        while let Some(file) = self.open.pop() {
            self.is_open[file] = false;
            cycle.push(file);
            if file == first {
                break;
            }
        }
        if cycle.len() > 1 {
            cycle.sort_unstable();
            self.found.push(cycle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_and_chains_are_not() {
        let arrows = vec![(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (4, 5)];
        assert_eq!(cycles(6, &arrows), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(cycles(3, &vec![(0, 1), (1, 2), (0, 2)]), Vec::<Vec<usize>>::new());
    }
}
