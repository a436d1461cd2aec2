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

test('masks every place, including the rest of its word', () => {
  expect(whole('a 12 b 34cd_E.f')).toEqual({ masked: 'a [redacted:token] b [redacted:token].f', reachesEnd: false });
});

test('reports a secret that reaches the end of the piece', () => {
  expect(whole('a 12').reachesEnd).toBe(true);
  expect(whole('a 12.').reachesEnd).toBe(false);
  expect(maskPiece(finder([digits]), { text: 'a 12.34', from: 0, until: 4 })).toEqual({
    masked: 'a [redacted:token]',
    reachesEnd: true,
  });
});

test('sees the text around a piece, but neither masks nor returns it', () => {
  const behind = rule(/x(?<secret>\d+)(?=y)/dg);
  expect(maskPiece(finder([behind]), { text: '1x12y34', from: 2, until: 4 }).masked).toBe('[redacted:token]');
  expect(maskPiece(finder([digits]), { text: '12 34 56', from: 3, until: 5 }).masked).toBe('[redacted:token]');
  expect(maskPiece(finder([digits]), { text: '12 ab 56', from: 3, until: 5 })).toEqual({ masked: 'ab', reachesEnd: false });
  expect(maskPiece(finder([digits]), { text: '1234', from: 1, until: 3 }).masked).toBe('[redacted:token]');
});

test('masks what another mask reveals, and leaves placeholders alone', () => {
  const next = rule(/\[redacted:token\] (?<secret>\w+)/dg, 'password');
  expect(whole('a 12 b c', [digits, next]).masked).toBe('a [redacted:token] [redacted:password] c');
  expect(whole('[redacted:token]', [rule(/(?<secret>.+)/dg, 'secret')]).masked).toBe('[redacted:token]');
});

test('joins overlapping places under the kind of the first, and keeps adjacent ones apart', () => {
  const place = (from: number, to: number, kind: Found['kind']) => ({ from, to, kind });
  const overlapping = [place(1, 5, 'token'), place(2, 3, 'cookie'), place(4, 7, 'email'), place(7, 8, 'host')];
  expect(maskPlaces('0123456789', 0, 9, overlapping)).toBe('0[redacted:token][redacted:host]8');
  const longFirst = [rule(/(?<secret>#)/dg, 'cookie'), rule(/(?<secret>#+)/dg, 'email')];
  expect(whole('a ###.', longFirst).masked).toBe('a [redacted:email].');
});
