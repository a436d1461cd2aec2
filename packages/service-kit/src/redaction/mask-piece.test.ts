import { expect, test } from 'vitest';
import { maskPiece, maskPlaces } from './mask-piece.ts';
import type { DetectionRule, Found } from './rules/rule.ts';
import { findAll } from './rules/structure-rules.ts';

const rule = (regex: RegExp, kind: Found['kind'] = 'token'): DetectionRule => ({
  id: 'a',
  triggers: [],
  find: (text) => findAll(text, regex, kind, () => true),
});
const digits = rule(/(?<secret>\d+)/dg);
const finder = (rules: readonly DetectionRule[]) => (text: string) => rules.flatMap((each) => each.find(text));
const whole = (text: string, rules: DetectionRule[] = [digits]) =>
  maskPiece(finder(rules), { text, from: 0, until: text.length });

test('every place is masked, with the word that it runs on into', () => {
  expect(whole('a 12 b 34cd_E.f')).toEqual({ masked: 'a [redacted:token] b [redacted:token].f', reachesEnd: false });
});

test('a secret that goes on to the end of the piece is reported', () => {
  expect(whole('a 12').reachesEnd).toBe(true);
  expect(whole('a 12.').reachesEnd).toBe(false);
  expect(maskPiece(finder([digits]), { text: 'a 12.34', from: 0, until: 4 })).toEqual({
    masked: 'a [redacted:token]',
    reachesEnd: true,
  });
});

test('what stands before and behind the piece is seen, and not masked or given back', () => {
  const behind = rule(/x(?<secret>\d+)(?=y)/dg);
  expect(maskPiece(finder([behind]), { text: '1x12y34', from: 2, until: 4 }).masked).toBe('[redacted:token]');
  expect(maskPiece(finder([digits]), { text: '12 34 56', from: 3, until: 5 }).masked).toBe('[redacted:token]');
  expect(maskPiece(finder([digits]), { text: '12 ab 56', from: 3, until: 5 })).toEqual({ masked: 'ab', reachesEnd: false });
  expect(maskPiece(finder([digits]), { text: '1234', from: 1, until: 3 }).masked).toBe('[redacted:token]');
});

test('what a mask brings out is masked too, and a mask is left as it is', () => {
  const next = rule(/\[redacted:token\] (?<secret>\w+)/dg, 'password');
  expect(whole('a 12 b c', [digits, next]).masked).toBe('a [redacted:token] [redacted:password] c');
  expect(whole('[redacted:token]', [rule(/(?<secret>.+)/dg, 'secret')]).masked).toBe('[redacted:token]');
});

test('places that overlap become one, of the kind of the first; those that touch stay apart', () => {
  const place = (from: number, to: number, kind: Found['kind']) => ({ from, to, kind });
  const overlapping = [place(1, 5, 'token'), place(2, 3, 'cookie'), place(4, 7, 'email'), place(7, 8, 'host')];
  expect(maskPlaces('0123456789', 0, 9, overlapping)).toBe('0[redacted:token][redacted:host]8');
  const longFirst = [rule(/(?<secret>#)/dg, 'cookie'), rule(/(?<secret>#+)/dg, 'email')];
  expect(whole('a ###.', longFirst).masked).toBe('a [redacted:email].');
});
