//! Draws by weights that keep to the weights: cards of shuffled decks.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// About so many cards has a deck. Independent draws stray: of 100,000 requests half of which are to be of one operation, by 0.16
/// percentage points (one standard deviation). With decks only the two that are begun at the ends of a window can stray, by 0.02 points.
/// Shorter decks would be nearer still, and too even: among the few dozen requests of a burst a costly operation must be as often
/// twice or thrice as by independent draws, since that is what servers meet and what their slowest answers come from.
const CARDS: f64 = 1_000.0;

/// Draws numbers by weights: from a shuffled deck, then from the next one. What the weights give to each number, and what its cards
/// up to the end of any deck are, differ by half a card at most.
///
/// All users of a kind on one generator draw from one deck. With a deck for each user, ten thousand of them would draw a few cards of each
/// and the whole would stray as if there were none; and which operation the nth request of an open loop is would depend on the
/// server, by whose answers it depends which user sends it.
pub struct Deck {
    random: ChaCha8Rng,
    /// Add up to 1.
    shares: Box<[f64]>,
    /// Cards that the decks so far had too few of, from -0.5 to 0.5.
    owed: Box<[f64]>,
    /// Those that were not drawn yet; which is next is drawn.
    cards: Vec<u32>,
    /// All that can be drawn.
    only: Option<usize>,
}

impl Deck {
    /// Draws numbers below that of the weights, each in proportion to its own; always 0 where none is above 0.
    pub fn new(weights: impl IntoIterator<Item = f64>, seed: u64, stream: u64) -> Deck {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        let mut shares: Box<[f64]> = weights.into_iter().collect();
        let most = shares.iter().copied().fold(0.0, f64::max);
        // By the largest first: the sum of large weights is infinite.
        shares.iter_mut().for_each(|weight| *weight /= most);
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|weight| *weight /= sum);
        let mut drawable = shares.iter().enumerate().filter(|(_, share)| **share > 0.0).map(|(at, _)| at);
        let first = drawable.next().unwrap_or(0);
        let only = drawable.next().is_none().then_some(first);
        let cards = Vec::with_capacity(CARDS as usize + shares.len());
        Deck { random, owed: vec![0.0; shares.len()].into(), shares, cards, only }
    }

    /// The next.
    pub fn draw(&mut self) -> usize {
        if let Some(only) = self.only {
            return only;
        }
        // One is enough, unless all weights are small: then each is owed more with each turn.
        while self.cards.is_empty() {
            self.stack();
        }
        let at = self.random.random_range(0..self.cards.len());
        self.cards.swap_remove(at) as usize
    }

    fn stack(&mut self) {
        for (number, (owed, share)) in (0..).zip(self.owed.iter_mut().zip(&self.shares)) {
            *owed += share * CARDS;
            let cards = owed.round().max(0.0);
            *owed -= cards;
            self.cards.extend(std::iter::repeat_n(number, cards as usize));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(deck: &mut Deck, numbers: usize, draws: u32) -> Vec<u32> {
        let mut counts = vec![0; numbers];
        (0..draws).for_each(|_| counts[deck.draw()] += 1);
        counts
    }

    #[test]
    fn one_that_can_be_drawn_is_always_drawn_and_without_any_the_first_is() {
        for (weights, only) in [(&[0.0, 3.0, 0.0][..], 1), (&[1.0], 0), (&[0.0, 0.0], 0), (&[], 0)] {
            let mut deck = Deck::new(weights.iter().copied(), 1, 1);
            assert!((0..10).all(|_| deck.draw() == only), "{weights:?}");
        }
    }

    #[test]
    fn the_order_is_of_the_seed_and_the_stream() {
        let order = |seed, stream| {
            let mut deck = Deck::new([1.0, 2.0, 3.0], seed, stream);
            (0..100).map(|_| deck.draw()).collect::<Vec<_>>()
        };
        assert_eq!(order(7, 3), order(7, 3));
        assert_ne!(order(7, 3), order(8, 3));
        assert_ne!(order(7, 3), order(7, 4));
    }

    /// Of independent draws the count in so many has this variance, by the binomial distribution; of cards of one deck by the
    /// hypergeometric one, which is smaller by 1 - 29/999 and less than that across two decks.
    #[test]
    fn in_a_burst_an_operation_is_as_uneven_as_by_independent_draws() {
        const BURST: u32 = 30;
        let (share, bursts) = (0.05, 40_000_u32);
        let mut deck = Deck::new([share, 1.0 - share], 1, 1);
        let mut squares = 0.0;
        let mut crowded = 0;
        for _ in 0..bursts {
            let count = counts(&mut deck, 2, BURST)[0];
            squares += (f64::from(count) - f64::from(BURST) * share).powi(2);
            crowded += u32::from(count >= 5);
        }
        let independent = f64::from(BURST) * share * (1.0 - share);
        let ratio = squares / f64::from(bursts) / independent;
        assert!((0.94..=1.02).contains(&ratio), "{ratio}");
        // P(X >= 5) of 30 draws of 5 % is 1.56 %.
        let crowded = f64::from(crowded) / f64::from(bursts);
        assert!((0.0125..=0.0175).contains(&crowded), "{crowded}");
    }

    proptest! {
        #[test]
        fn after_whole_decks_each_number_has_its_share_to_half_a_card(
            weights in prop::collection::vec(prop_oneof![Just(0.0), 1e-9..1e-3, 0.1..100.0, Just(f64::MAX)], 2..40),
            seed: u64,
        ) {
            prop_assume!(weights.iter().filter(|weight| **weight > 0.0).count() > 1);
            let mut deck = Deck::new(weights.iter().copied(), seed, 0);
            let shares = deck.shares.clone();
            let mut counts = vec![0_u32; weights.len()];
            for decks in 1..20 {
                deck.stack();
                while !deck.cards.is_empty() {
                    counts[deck.draw()] += 1;
                }
                for (count, share) in counts.iter().zip(&shares) {
                    let off = f64::from(*count) - share * CARDS * f64::from(decks);
                    prop_assert!(off.abs() < 0.500_001, "{count} of share {share} after {decks} decks");
                }
            }
        }

        #[test]
        fn no_weights_make_it_hang_or_grow(weights in prop::collection::vec(0.0..1e-3, 0..5_000)) {
            let mut deck = Deck::new(weights.iter().copied(), 1, 1);
            for _ in 0..2_000 {
                let drawn = deck.draw();
                prop_assert!(drawn < weights.len().max(1));
                prop_assert!(deck.cards.capacity() <= CARDS as usize + weights.len() + 1);
            }
        }
    }
}
