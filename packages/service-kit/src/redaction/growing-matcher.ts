import { inTurns } from './pace.ts';
import { buildSecretMatcher, createPlainMatcher, createSecretMatcher, type SecretMatcher } from './secret-matcher.ts';

/** Up to this many values, all forms are built at once. */
const fewValues = 3;
const fewChars = 2048;

/**
 * The matchers of a changing list of values. The first list is built synchronously, because nothing may be sent before it is
 * ready. Later ones are built in steps, in between the rest of the process's work; until then a small matcher finds the new
 * values, and the previous matcher the known ones. `onBuilt` is called when a single matcher covers all values again.
 */
export function createGrowingMatcher(onBuilt: () => void, warn: (message: string) => void) {
  let held: ReadonlySet<string> = new Set();
  let wanted = held;
  let whole = createSecretMatcher(held);
  let recent: SecretMatcher | null = null;
  let isBuilding = false;

  const build = async () => {
    while (wanted !== held) {
      const values = wanted;
      whole = await inTurns(buildSecretMatcher(values));
      held = values;
      recent = matcherOfNew(wanted, held);
    }
    isBuilding = false;
    onBuilt();
  };
  const buildInTurns = () => {
    if (isBuilding) return;
    isBuilding = true;
    build().catch((error: unknown) => {
      isBuilding = false;
      warn(`Encoded forms of new secrets could not be prepared, so only their plain forms are masked: ${String(error)}`);
    });
  };

  return {
    /** True when something changed. */
    set(values: ReadonlySet<string>): boolean {
      if (isSame(values, wanted)) return false;
      wanted = values;
      if (held.size === 0 && !isBuilding) {
        whole = createSecretMatcher(values);
        held = values;
      } else {
        recent = matcherOfNew(wanted, held);
        buildInTurns();
      }
      return true;
    },
    /** A text must pass all of them. */
    matchers: (): readonly SecretMatcher[] => (recent === null ? [whole] : [whole, recent]),
  };
}

const isSame = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every((value) => other.has(value));

function matcherOfNew(wanted: ReadonlySet<string>, held: ReadonlySet<string>): SecretMatcher | null {
  const values = [...wanted].filter((value) => !held.has(value));
  if (values.length === 0) return null;
  const isLittle = values.length <= fewValues && values.reduce((sum, value) => sum + value.length, 0) <= fewChars;
  return isLittle ? createSecretMatcher(values) : createPlainMatcher(values);
}
