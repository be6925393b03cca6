//! Times of groups that the host launches one by one: an event before the first launch of each.

use super::stream::{Event, Stream};
use crate::backend::{BackendError, GroupTime, Trace};

/// The starts of the groups of a run, in order.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<(u32, Event)>);

impl Marks {
    /// Marks the start of `group`, unless it is the group that has begun.
    pub(super) fn begin(&mut self, stream: &Stream, group: u32) -> Result<(), BackendError> {
        if self.0.last().is_some_and(|(last, _)| *last == group) {
            return Ok(());
        }
        let event = Event::new(stream.context())?;
        event.record(stream)?;
        self.0.push((group, event));
        Ok(())
    }

    /// Returns the times of the groups of a run between two events, each up to the start of the
    /// next one.
    pub(super) fn trace(&self, (start, end): (&Event, &Event)) -> Result<Trace, BackendError> {
        let nexts = self.0.iter().skip(1).map(|(_, event)| event).chain([end]);
        let time = |((group, begun), next): (&(u32, Event), &Event)| {
            Ok(GroupTime {
                group: *group,
                groups: 1,
                runs: 1,
                start_ns: start.ns_until(begun)?,
                spent_ns: begun.ns_until(next)?,
            })
        };
        let groups = self.0.iter().zip(nexts).map(time);
        Ok(Trace {
            groups: groups.collect::<Result<_, BackendError>>()?,
            ..Trace::default()
        })
    }
}
