/** Converts one channel from one rate to another. */
export type Resampler = { push(samples: Float64Array): Float64Array; end(): Float64Array };

/** Zero crossings of the filter on each side: enough to keep aliasing far below the resolution of 16-bit speech. */
const sideLobes = 16;

/**
 * One windowed sinc for each position that a new sample can have between two old ones. Positions are counted in integers, so hours of sound
 * stay in sync. Returns `ceil(samples * to / from)` samples in total.
 */
export function createResampler(from: number, to: number): Resampler {
  const common = gcd(from, to);
  const [up, down] = [to / common, from / common];
  const half = Math.ceil(sideLobes * Math.max(1, down / up));
  const filters = makeFilters(up, Math.min(1, up / down), half);
  /** Old samples that are still needed; the first of them has the position `start`. Before the sound there is silence. */
  let held = new Float64Array(half);
  let start = -half;
  /** The next new sample lies `phase / up` after the old sample at `at`. */
  let at = 0;
  let phase = 0;

  const make = (end: number): Float64Array => {
    const made = new Float64Array(Math.max(0, Math.ceil(((end - at) * up - phase) / down)));
    for (let n = 0; n < made.length; n++) {
      made[n] = weigh(held, at - half + 1 - start, filters[phase] as Float64Array);
      phase += down;
      at += Math.floor(phase / up);
      phase %= up;
    }
    const done = Math.min(Math.max(0, at - half - start), held.length);
    held = held.slice(done);
    start += done;
    return made;
  };
  const add = (samples: Float64Array) => {
    const all = new Float64Array(held.length + samples.length);
    all.set(held);
    all.set(samples, held.length);
    held = all;
  };

  return {
    push(samples) {
      add(samples);
      return make(start + held.length - half);
    },
    end() {
      const length = start + held.length;
      add(new Float64Array(half));
      return make(length);
    },
  };
}

function weigh(samples: Float64Array, first: number, filter: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < filter.length; k++) sum += (samples[first + k] as number) * (filter[k] as number);
  return sum;
}

/** `cutoff`: as a fraction of half the old rate. Each filter sums to one, which preserves the level. */
function makeFilters(up: number, cutoff: number, half: number): Float64Array[] {
  return Array.from({ length: up }, (_, phase) => {
    const filter = Float64Array.from({ length: 2 * half }, (_none, k) => {
      const distance = k - half + 1 - phase / up;
      return sinc(distance * cutoff) * blackman(distance / half);
    });
    const sum = filter.reduce((total, weight) => total + weight, 0);
    return filter.map((weight) => weight / sum);
  });
}

/** Exactly zero at integers, so an old sample at the position of a new one is not mixed with its neighbours. */
const sinc = (x: number): number => {
  if (x === 0) return 1;
  return Number.isInteger(x) ? 0 : Math.sin(Math.PI * x) / (Math.PI * x);
};

const blackman = (x: number): number =>
  Math.abs(x) >= 1 ? 0 : 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x);

const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
