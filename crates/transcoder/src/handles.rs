//! Numbers that stand for values, for callers that cannot hold a reference. A number is never given out twice, so a
//! stale one finds nothing, and never someone else's value.

/// Bits of a handle that say where; the rest above them count how often the place was used.
const PLACE_BITS: u32 = 18;
const PLACE_LIMIT: usize = 1 << PLACE_BITS;
/// Handles stay below 2^30, which JavaScript engines hold without a box.
const LAST_USE: u32 = (1 << (30 - PLACE_BITS)) - 1;

struct Slot<T> {
    uses: u32,
    value: Option<T>,
}

/// Values by handle.
pub struct Handles<T> {
    slots: Vec<Slot<T>>,
    vacant: Vec<usize>,
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Handles<T> {
    /// No values yet. Does not allocate.
    pub const fn new() -> Self {
        Handles {
            slots: Vec::new(),
            vacant: Vec::new(),
        }
    }

    /// Keeps `value`; its handle is never 0. `None` when 262,144 values are held already, or all numbers are used up.
    pub fn insert(&mut self, value: T) -> Option<u32> {
        let place = match self.vacant.pop() {
            Some(place) => place,
            None if self.slots.len() < PLACE_LIMIT => {
                self.slots.push(Slot {
                    uses: 0,
                    value: None,
                });
                self.slots.len() - 1
            }
            None => return None,
        };
        let slot = self.slots.get_mut(place)?;
        slot.uses += 1;
        slot.value = Some(value);
        Some(slot.uses << PLACE_BITS | place as u32)
    }

    /// How many values are held.
    pub fn len(&self) -> usize {
        self.slots
            .iter()
            .filter(|slot| slot.value.is_some())
            .count()
    }

    /// True when no value is held.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a handle that is still in use.
    pub fn get(&mut self, handle: u32) -> Option<&mut T> {
        let slot = self.slots.get_mut(handle as usize % PLACE_LIMIT)?;
        if slot.uses == handle >> PLACE_BITS {
            slot.value.as_mut()
        } else {
            None
        }
    }

    /// Drops the value. False when the handle was not in use.
    pub fn remove(&mut self, handle: u32) -> bool {
        let place = handle as usize % PLACE_LIMIT;
        if self.get(handle).is_none() {
            return false;
        }
        let slot = &mut self.slots[place];
        slot.value = None;
        if slot.uses < LAST_USE {
            self.vacant.push(place);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_handle_never_finds_the_next_value() {
        let mut handles = Handles::new();
        let mut seen = std::collections::HashSet::new();
        for value in 0..10_000u32 {
            let handle = handles.insert(value).unwrap();
            assert!(handle != 0 && handle < 1 << 30 && seen.insert(handle));
            assert_eq!(handles.get(handle), Some(&mut { value }));
            assert!(handles.remove(handle));
            assert!(!handles.remove(handle));
            assert_eq!(handles.get(handle), None);
        }
        for handle in [0, 1, u32::MAX, 1 << 30] {
            assert_eq!(handles.get(handle), None);
        }
    }

    #[test]
    fn a_number_that_was_not_given_out_yet_finds_nothing() {
        let mut handles = Handles::new();
        let handle = handles.insert(7).unwrap();
        for other in [handle + 1, handle + (1 << PLACE_BITS)] {
            assert_eq!(handles.get(other), None);
            assert!(!handles.remove(other));
        }
        assert_eq!(handles.get(handle), Some(&mut 7));
    }

    #[test]
    fn every_place_is_given_once_and_then_none() {
        let mut handles = Handles::new();
        assert!(handles.is_empty());
        let first = handles.insert(0).unwrap();
        assert!(!handles.is_empty());
        for value in 1..PLACE_LIMIT {
            assert!(handles.insert(value).is_some());
        }
        assert_eq!(handles.insert(PLACE_LIMIT), None);
        assert!(handles.remove(first));
        let again = handles.insert(PLACE_LIMIT).unwrap();
        assert_eq!(handles.get(again), Some(&mut { PLACE_LIMIT }));
        assert_eq!(handles.get(first), None);
    }
}
