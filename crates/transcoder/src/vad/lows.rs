//! How quiet a band is when nobody speaks: a slow average over the lowest levels of the last two seconds.

/// Levels that are kept.
const KEPT: usize = 16;
/// Frames that a level is kept for.
const LIFE: u32 = 100;
/// Stands where no level is kept. No level is as high.
const NONE: i32 = 10_000;
/// The average that is begun with.
const START: i32 = 1600;
/// Weights of the average against a new level, in Q15, which must be one less than they count: 0.2 down, 0.99 up.
const DOWN: i32 = 6553;
const UP: i32 = 32_439;

/// The lowest levels of one band.
#[derive(Clone, Copy)]
pub(super) struct Lows {
    /// In rising order.
    levels: [i32; KEPT],
    /// In which frame each is forgotten.
    ends: [u32; KEPT],
    average: i32,
}

impl Lows {
    pub(super) const fn new() -> Self {
        Lows {
            levels: [NONE; KEPT],
            ends: [0; KEPT],
            average: START,
        }
    }

    /// Takes the level of a frame and gives the average. `frame` counts from 0, and wraps.
    pub(super) fn follow(&mut self, level: i32, frame: u32) -> i32 {
        self.forget(frame);
        self.insert(level, frame);
        let low = match frame {
            0 => START,
            1 | 2 => self.levels[0],
            _ => self.levels[2],
        };
        let weight = match frame {
            0 => 0,
            _ if low < self.average => DOWN,
            _ => UP,
        };
        self.average = ((weight + 1) * self.average + (32_767 - weight) * low + 16_384) >> 15;
        self.average
    }

    fn forget(&mut self, frame: u32) {
        let mut place = 0;
        while place < KEPT {
            if self.ends[place] == frame && self.levels[place] != NONE {
                self.levels.copy_within(place + 1.., place);
                self.ends.copy_within(place + 1.., place);
                self.levels[KEPT - 1] = NONE;
                // The reference steps over the level that moves here: it does not grow older in this frame.
                self.ends[place] = self.ends[place].wrapping_add(1);
            }
            place += 1;
        }
    }

    fn insert(&mut self, level: i32, frame: u32) {
        let place = self.levels.iter().filter(|&&kept| kept <= level).count();
        if place == KEPT {
            return;
        }
        self.levels.copy_within(place..KEPT - 1, place + 1);
        self.ends.copy_within(place..KEPT - 1, place + 1);
        self.levels[place] = level;
        self.ends[place] = frame.wrapping_add(LIFE);
    }
}
