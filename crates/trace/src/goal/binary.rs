//! GOAL as a binary file, little-endian, as LogGOPSim's `txt2bin` writes it.
//!
//! Behind the magic number and the offsets of the ranks, each rank has a section: the numbers of nodes and of roots, the
//! roots, nodes of 39 bytes, and one array into which they point, with the nodes that wait for them.

use std::path::Path;

use crate::{ANY, Reference, TraceError};

use super::{Goal, Kind, Schedule, Statement};

/// The first 8 bytes of a file.
const MAGIC: u64 = 4223;
/// The first 8 bytes of a file that is still being written.
const UNFINISHED: u64 = 2342;
/// Length of a node (bytes).
const NODE: usize = 39;
/// What offsets count from (bytes).
const ORIGIN: usize = 8;
/// Length of what is before the offsets of ranks (bytes).
const HEADER: usize = 14;

pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let first = bytes.first_chunk().map(|first| u64::from_le_bytes(*first));
    first.is_some_and(|first| [MAGIC, UNFINISHED].contains(&first))
}

/// Bytes of a file, read in their order.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    path: &'a Path,
}

impl<'a> Reader<'a> {
    fn error(&self, message: impl Into<String>) -> TraceError {
        let help = "make the file again, with txt2bin or `rocelab trace convert`";
        TraceError::new(self.path, message, help).at_byte(self.at as u64)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], TraceError> {
        let end = self.at.checked_add(len).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| {
            let left = self.bytes.len() - self.at;
            self.error(format!("{len} bytes should be here, and {left} are left"))
        })?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], TraceError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, TraceError> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, TraceError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, TraceError> {
        self.array().map(u64::from_le_bytes)
    }
}

/// Reads a file; errors name `path`.
pub(super) fn read(bytes: &[u8], path: &Path) -> Result<Goal, TraceError> {
    let mut reader = Reader { bytes, at: 0, path };
    if reader.u64()? == UNFINISHED {
        reader.at = 0;
        return Err(reader.error("the program that wrote the file did not finish it"));
    }
    let count = reader.u32()?;
    let _highest_cpu_and_nic = reader.take(2)?;
    let mut sections = Vec::new();
    for _ in 0..count {
        let at = reader.at;
        let (start, end) = (reader.u64()?, reader.u64()?);
        let place = |offset: u64| usize::try_from(offset).ok()?.checked_add(ORIGIN);
        let section = place(start).zip(place(end));
        // Sections do not overlap, so that a small file cannot have large schedules.
        let before = sections.last().map_or(0, |(_, end): &(usize, usize)| *end);
        let section =
            section.filter(|(start, end)| before <= *start && start <= end && *end <= bytes.len());
        let section = section.ok_or_else(|| {
            let rank = sections.len();
            Reader { bytes, at, path }
                .error(format!("rank {rank} is at {start} to {end}, which is not behind the rank before and in the file"))
        })?;
        sections.push(section);
    }
    let mut ranks = Vec::new();
    for (start, end) in sections {
        let mut section = Reader { bytes: &bytes[..end], at: start, path };
        ranks.push(schedule(&mut section, count)?);
    }
    Ok(Goal { path: path.to_owned(), ranks })
}

/// The lists of nodes that wait for a node: where they are in the array, when done and when started.
#[derive(Clone, Copy)]
struct Lists {
    /// Where the node is (byte).
    at: usize,
    left: u32,
    lists: [(u32, u32); 2],
}

fn schedule(reader: &mut Reader<'_>, ranks: u32) -> Result<Schedule, TraceError> {
    let (nodes, roots) = (reader.u32()? as usize, reader.u32()? as usize);
    let at_roots = reader.at;
    let roots = reader.take(roots.saturating_mul(4))?;
    let at = reader.at;
    if nodes.checked_mul(NODE).is_none_or(|len| len > reader.bytes.len() - at) {
        return Err(reader.error(format!("{nodes} nodes do not fit into the section of the rank")));
    }
    let mut schedule = Schedule::default();
    let mut all = Vec::with_capacity(nodes);
    for index in 0..nodes {
        let (statement, lists) = node(reader, ranks)?;
        schedule.statements.push(statement);
        schedule.labels.push(format!("l{}", index + 1).into());
        all.push(lists);
    }
    let left = dependants(reader, &all, &mut schedule)?;
    for (lists, left) in all.iter().zip(&left) {
        if lists.left != *left {
            reader.at = lists.at;
            let says = lists.left;
            return Err(reader.error(format!("it waits for {says} others, and {left} say so")));
        }
    }
    let expected = (0_u32..).zip(&left).filter(|(_, left)| **left == 0).map(|(index, _)| index);
    let roots =
        roots.chunks_exact(4).map(|root| u32::from_le_bytes([root[0], root[1], root[2], root[3]]));
    let mut roots: Vec<_> = roots.collect();
    roots.sort_unstable();
    if !roots.into_iter().eq(expected) {
        reader.at = at_roots;
        return Err(reader.error("the roots are not the nodes that wait for no others"));
    }
    Ok(schedule)
}

/// Reads which nodes wait for which; how many each one waits for.
fn dependants(
    reader: &mut Reader<'_>,
    all: &[Lists],
    schedule: &mut Schedule,
) -> Result<Vec<u32>, TraceError> {
    let at_array = reader.at;
    let array = reader.take(reader.bytes.len() - at_array)?;
    let array: Vec<u32> = array
        .chunks_exact(4)
        .map(|entry| u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]))
        .collect();
    let mut left = vec![0_u32; all.len()];
    // Lists that overlap could make many dependencies of a small file.
    let mut used = 0;
    for (index, lists) in (0_u32..).zip(all) {
        let lists_of = lists.lists.into_iter().zip([Reference::Done, Reference::Started]);
        for ((count, begin), reference) in lists_of {
            let (count, begin) = (count as usize, begin as usize);
            used += count;
            let list = begin.checked_add(count).and_then(|end| array.get(begin..end));
            let Some(list) = list.filter(|_| used <= array.len()) else {
                reader.at = lists.at;
                return Err(reader.error("the nodes that wait for this one are not in the section"));
            };
            for &dependant in list {
                let Some(left) = left.get_mut(dependant as usize) else {
                    reader.at = lists.at;
                    return Err(
                        reader.error(format!("node {dependant}, which waits for it, is not there"))
                    );
                };
                *left += 1;
                schedule.requires.push((dependant, index, reference));
            }
        }
    }
    Ok(left)
}

fn node(reader: &mut Reader<'_>, ranks: u32) -> Result<(Statement, Lists), TraceError> {
    let at = reader.at;
    let left = reader.u32()?;
    let kind = match reader.u8()? {
        1 => Kind::Send,
        2 => Kind::Receive,
        3 => Kind::Calc,
        other => {
            reader.at = at;
            return Err(
                reader.error(format!("a node of type {other} is no send, receive or calculation"))
            );
        }
    };
    let (peer, size, tag) = (reader.u32()?, reader.u64()?, reader.u32()?);
    // Of a calculation they mean nothing.
    let (peer, tag) = if kind == Kind::Calc { (0, 0) } else { (peer, tag) };
    let is_any = kind == Kind::Receive && peer == ANY;
    if kind != Kind::Calc && !is_any && peer >= ranks {
        reader.at = at;
        return Err(reader.error(format!("rank {peer} is not among the {ranks} ranks")));
    }
    let statement = Statement { kind, peer, tag, size, cpu: reader.u8()?, nic: reader.u8()? };
    if kind == Kind::Send && tag == ANY {
        reader.at = at;
        return Err(reader.error("a send with any tag"));
    }
    let lists = [(reader.u32()?, reader.u32()?), (reader.u32()?, reader.u32()?)];
    Ok((statement, Lists { at, left, lists }))
}

/// Writes a file.
pub(super) fn write(goal: &Goal) -> Result<Vec<u8>, TraceError> {
    let sections: Result<Vec<_>, _> =
        goal.ranks.iter().map(|schedule| section(schedule, &goal.path)).collect();
    let sections = sections?;
    let statements = || goal.ranks.iter().flat_map(|rank| &rank.statements);
    let mut out = Vec::new();
    out.extend(MAGIC.to_le_bytes());
    out.extend(count(goal.ranks.len(), &goal.path)?.to_le_bytes());
    out.push(statements().map(|statement| statement.cpu).max().unwrap_or(0));
    out.push(statements().map(|statement| statement.nic).max().unwrap_or(0));
    let mut start = (HEADER + 16 * sections.len() - ORIGIN) as u64;
    for section in &sections {
        let end = start + section.len() as u64;
        out.extend(start.to_le_bytes());
        out.extend(end.to_le_bytes());
        start = end;
    }
    for section in sections {
        out.extend(section);
    }
    Ok(out)
}

fn section(schedule: &Schedule, path: &Path) -> Result<Vec<u8>, TraceError> {
    let nodes = schedule.statements.len();
    let mut left = vec![0_u32; nodes];
    let mut dependants = vec![[Vec::new(), Vec::new()]; nodes];
    for &(statement, parent, reference) in &schedule.requires {
        left[statement as usize] += 1;
        dependants[parent as usize][usize::from(reference == Reference::Started)].push(statement);
    }
    let roots = (0_u32..).zip(&left).filter(|(_, left)| **left == 0).map(|(index, _)| index);
    let roots: Vec<_> = roots.collect();
    let mut out = Vec::new();
    out.extend(count(nodes, path)?.to_le_bytes());
    out.extend(count(roots.len(), path)?.to_le_bytes());
    out.extend(roots.iter().flat_map(|root| root.to_le_bytes()));
    let mut array = Vec::new();
    for ((statement, left), lists) in schedule.statements.iter().zip(left).zip(&dependants) {
        out.extend(left.to_le_bytes());
        out.push(match statement.kind {
            Kind::Send => 1,
            Kind::Receive => 2,
            Kind::Calc => 3,
        });
        out.extend(statement.peer.to_le_bytes());
        out.extend(statement.size.to_le_bytes());
        out.extend(statement.tag.to_le_bytes());
        out.extend([statement.cpu, statement.nic]);
        for list in lists {
            out.extend(count(list.len(), path)?.to_le_bytes());
            out.extend(count(array.len(), path)?.to_le_bytes());
            array.extend(list.iter().copied());
        }
    }
    out.extend(array.iter().flat_map(|dependant| dependant.to_le_bytes()));
    Ok(out)
}

fn count(len: usize, path: &Path) -> Result<u32, TraceError> {
    u32::try_from(len).ok().filter(|len| *len < ANY).ok_or_else(|| {
        let message =
            format!("{len} ranks, statements or dependencies are too many for the format");
        TraceError::new(path, message, "cut the schedule")
    })
}
