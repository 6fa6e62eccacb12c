//! A heap in which each element has four children: it decides which of equally near switches comes first.

use std::cmp::Ordering;

const CHILDREN: usize = 4;

/// Elements by their keys, the least at the top.
#[derive(Debug)]
pub(super) struct Heap {
    elements: Vec<usize>,
    /// For each element, its place, if it is in the heap.
    places: Vec<usize>,
    keys: Vec<u64>,
}

impl Heap {
    /// The elements below `count` with the greatest key, in their order.
    pub(super) fn new(count: usize) -> Self {
        let elements = || (0..count).collect();
        Self { elements: elements(), places: elements(), keys: vec![u64::MAX; count] }
    }

    /// As [`new`](Self::new), once more.
    pub(super) fn refill(&mut self, count: usize) {
        self.elements.clear();
        self.elements.extend(0..count);
        self.places.clear();
        self.places.extend(0..count);
        self.keys.clear();
        self.keys.resize(count, u64::MAX);
    }

    /// The key of an element, in the heap or taken from it.
    pub(super) fn key(&self, element: usize) -> u64 {
        self.keys[element]
    }

    /// Makes the key of an element less, which must be in the heap.
    pub(super) fn lower(&mut self, element: usize, key: u64) {
        self.keys[element] = key;
        let mut place = self.places[element];
        while place > 0 {
            let parent = (place - 1) / CHILDREN;
            if self.keys[self.elements[parent]] <= key {
                break;
            }
            self.put(place, self.elements[parent]);
            place = parent;
        }
        self.put(place, element);
    }

    /// Takes the element with the least key from the heap.
    pub(super) fn pop(&mut self) -> Option<usize> {
        let &top = self.elements.first()?;
        let last = self.elements.pop()?;
        if !self.elements.is_empty() {
            self.sink(last);
        }
        Some(top)
    }

    /// Puts an element at the top, and then down to its place.
    fn sink(&mut self, element: usize) {
        let key = self.keys[element];
        let mut place = 0;
        while let Some(child) = self.least_child(place) {
            if self.keys[self.elements[child]] >= key {
                break;
            }
            self.put(place, self.elements[child]);
            place = child;
        }
        self.put(place, element);
    }

    /// The last of the least children.
    fn least_child(&self, place: usize) -> Option<usize> {
        let first = place * CHILDREN + 1;
        let children = first..(first + CHILDREN).min(self.elements.len());
        let key = |&child: &usize| self.keys[self.elements[child]];
        children.min_by(|one, other| key(one).cmp(&key(other)).then(Ordering::Greater))
    }

    fn put(&mut self, place: usize, element: usize) {
        self.elements[place] = element;
        self.places[element] = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_come_by_their_keys() {
        let mut heap = Heap::new(9);
        for (element, key) in [(7, 3), (2, 9), (4, 1), (7, 0)] {
            heap.lower(element, key);
        }
        let taken: Vec<_> = std::iter::from_fn(|| heap.pop()).collect();
        assert_eq!(taken[..3], [7, 4, 2]);
        assert_eq!(taken.len(), 9);
    }

    #[test]
    fn the_last_of_equal_children_comes_first() {
        let mut heap = Heap::new(5);
        heap.lower(0, 0);
        assert_eq!(heap.pop(), Some(0));
        // 4 took the top, and is not greater than any of its children.
        assert_eq!(heap.pop(), Some(4));
    }
}
