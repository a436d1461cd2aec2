import { describe, expect, test } from 'vitest';
import { tableOf, type Audience } from '@svc/service-kit/redaction/detection.ts';
import { createKeywordTable, type KeywordTable } from '@svc/service-kit/redaction/keyword-table.ts';
import type { DetectionRule } from '@svc/service-kit/redaction/rules/rule.ts';
import { createTextDetector } from '@svc/service-kit/redaction/text-detector.ts';
import { hostileTexts, ordinaryTexts, type SampleText } from '@svc/testing/hostile-texts.ts';
import { usualOrDeep } from '@svc/testing/usual-or-deep.ts';

/** A rule without keywords reads the piece; one with keywords reads this far from each of them. */
const reach = 256;

/** The table of an audience, and the number of units read with it, by the passes over the text and by each rule. */
function counted(audience: Audience): { table: KeywordTable; take(): number } {
  let units = 0;
  const rules = tableOf(audience).rules.map((rule): DetectionRule => ({
    ...rule,
    find(text, hits) {
      units += Math.min(text.length, reach * Math.max(1, hits?.length ?? 1));
      return rule.find(text, hits);
    },
  }));
  const table = createKeywordTable(rules);
  const next = new Proxy(table.next, {
    get(target, index) {
      units++;
      return Reflect.get(target, index) as unknown;
    },
  });
  return {
    table: { ...table, next },
    take() {
      const taken = units;
      units = 0;
      return taken;
    },
  };
}

function read(table: KeywordTable, holdsWords: boolean, text: string, size: number): void {
  const stream = createTextDetector(table, holdsWords);
  for (let at = 0; at < text.length; at += size) stream.push(text.slice(at, at + size));
  stream.end();
}

const longest = 10_240;
/** A little more than one, two and four of the pieces that are looked at when nothing ends them. */
const short = usualOrDeep(4400, longest);
/** A short part that is repeated shows in a short text whether the work grows with it. */
const lengthOf = ({ of }: SampleText): number => (of(short).includes(of(64), 1) ? short : longest);
/** A piece that nothing ends is looked at every 4 KiB: one more or less of them, by all of its rules, says nothing. */
const piece = 16_384;
/** The most work per unit of the worst text; ordinary text takes 1 to 3. */
const mostPerUnit = 400;
const texts = [...ordinaryTexts, ...hostileTexts(tableOf('public').rules)];
/** Public readers have all rules of private ones, so a part of the texts is enough for the latter, and each way takes another part. */
const parts = usualOrDeep(3, 1);

describe.each([
  ['private', false],
  ['public', true],
] as const)('detection for %s readers', (audience, holdsWords) => {
  const { table, take } = counted(audience);
  const unitsOf = (text: string, size: number): number => {
    read(table, holdsWords, text, size);
    return take();
  };

  test.each(
    (
      [
        ['whole', Number.MAX_SAFE_INTEGER, 1],
        ['by 7', 7, 2],
      ] as const
    ).filter(([way]) => way === 'whole' || audience === 'private'),
  )(
    'the work grows at most in proportion to the length of the text, read %s, and is bounded',
    { timeout: 300_000 },
    (_way, size, part) => {
      const tried = audience === 'public' ? texts : texts.filter((_, n) => n % parts === part % parts);
      const wrong = tried.flatMap((sample) => {
        const { name, of } = sample;
        const length = lengthOf(sample);
        const [one, two, four] = [1, 2, 4].map((times) => unitsOf(of(length).repeat(times), size)) as [number, number, number];
        const more = two - one;
        const twice = four - two;
        return twice > 2.2 * more + piece || more > mostPerUnit * length ? [`${name}: ${one}, ${two}, ${four}`] : [];
      });
      expect(wrong).toEqual([]);
    },
  );
});
