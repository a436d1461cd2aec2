import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import type { UsageByPerson } from '@svc/contract/usage.ts';
import type { Linked } from '../src/usage/fold-people.ts';
import { openTestCollector, type TestCollector } from './open-test-collector.ts';

const hour = 3_600_000;
let collector: TestCollector | null = null;
afterEach(async () => {
  await collector?.close();
  collector = null;
});

function open(principals: () => readonly Linked[] | null) {
  collector = openTestCollector({}, undefined, { readPrincipals: () => Promise.resolve(principals()) });
  return collector;
}
const people = (opened: TestCollector, since = 0) => opened.read<UsageByPerson>(`/api/usage/people?since=${since}`);
const used = (surface: string, identity: string, principal: string | null, more: object = {}) => ({
  kind: 'token-usage',
  ts: hour * 5,
  surface,
  identity,
  principal,
  cost_usd: 1,
  billed_cost_usd: 0.5,
  billed: true,
  payload: { input_tokens: 10, output_tokens: 1 },
  ...more,
});
const ann: Linked = { key: 'ann', display_name: 'Ann', identifiers: [{ surface: 'messenger', value: 'Ann_M' }] };

test('linked handles share one row, also for usage from before they were linked', async () => {
  const links: Linked[] = [];
  const opened = open(() => links);
  await opened.ingest([used('messenger', 'ann_m', null), used('compat', 'key-1', 'ann'), used('email', 'ann_m', null)]);
  expect((await people(opened)).people).toHaveLength(3);
  links.push(ann);
  const { people: rows, links_known } = await people(opened);
  expect(links_known).toBe(true);
  expect(
    rows.map(({ principal, name, turns, cost_usd, billed_cost_usd }) => ({ principal, name, turns, cost_usd, billed_cost_usd })),
  ).toEqual([
    { principal: 'ann', name: 'Ann', turns: 2, cost_usd: 2, billed_cost_usd: 1 },
    // The same name on another surface is another person.
    { principal: null, name: null, turns: 1, cost_usd: 1, billed_cost_usd: 0.5 },
  ]);
});

test('unlinked identities are grouped regardless of case', async () => {
  const opened = open(() => []);
  await opened.ingest([used('issues', 'Bob', null), used('issues', ' bob', null), used('issues', 'BOB', null)]);
  expect((await people(opened)).people).toMatchObject([
    { principal: null, turns: 3, handles: [{ surface: 'issues', identity: 'bob' }] },
  ]);
});

test('a handle that two people have in different case goes to the exact match, otherwise to neither', async () => {
  const bob: Linked = { key: 'bob', display_name: 'Bob', identifiers: [{ surface: 'messenger', value: 'ann_m' }] };
  const opened = open(() => [ann, bob]);
  await opened.ingest([used('messenger', 'ann_m', null), used('messenger', 'Ann_M', null), used('messenger', 'ANN_M', null)]);
  expect((await people(opened)).people.map(({ principal, turns }) => [principal, turns])).toEqual([
    [null, 1],
    ['ann', 1],
    ['bob', 1],
  ]);
});

test('a handle takes its past usage along to the person it is linked to', async () => {
  const links = [ann];
  const opened = open(() => links);
  await opened.ingest([used('messenger', 'Ann_M', 'ann'), used('messenger', 'Ann_M', null)]);
  expect((await people(opened)).people).toMatchObject([{ principal: 'ann', turns: 2 }]);
  links[0] = { key: 'bob', display_name: 'Bob', identifiers: ann.identifiers };
  expect((await people(opened)).people).toMatchObject([{ principal: 'bob', turns: 2 }]);
  links.length = 0;
  expect((await people(opened)).people).toMatchObject([
    { principal: null, turns: 1 },
    { principal: 'ann', turns: 1 },
  ]);
});

test('usage that an earlier version recorded for a principal stays theirs, also after a link', async () => {
  const opened = open(() => [{ key: 'bob', display_name: 'Bob', identifiers: [{ surface: 'compat', value: 'ann' }] }]);
  await opened.ingest([used('compat', 'ann', 'ann')]);
  expect((await people(opened)).people).toMatchObject([{ principal: 'ann', turns: 1 }]);
});

test('without the core the recorded usage is shown, and marked as possibly split', async () => {
  const opened = open(() => null);
  await opened.ingest([used('compat', 'key-1', 'ann'), used('messenger', 'ann_m', null)]);
  const answer = await people(opened);
  expect(answer.links_known).toBe(false);
  expect(answer.people).toHaveLength(2);
});

test('since leaves out earlier hours, and side calls are listed separately', async () => {
  const opened = open(() => []);
  const tts = { feature: 'tts', provider: 'p', model: 'm', units: 'characters', quantity: 12 };
  await opened.ingest([
    used('compat', 'a', null, { ts: hour }),
    used('compat', 'a', null),
    used('compat', 'a', null, { payload: tts }),
    used('compat', 'a', null, { ts: hour * 6, payload: tts }),
  ]);
  const { people: rows, side } = await people(opened, hour * 5 + 7);
  expect(rows).toMatchObject([{ turns: 1 }]);
  expect(side).toMatchObject([{ feature: 'tts', calls: 2, quantity: 24, cost_usd: 2, billed_cost_usd: 1 }]);
});

test.each([
  ['whole days', 1, [0, 1, 23, 24, 25, 47, 50, 95, 96]],
  ['whole periods of 30 days', 23, [0, 1, 30, 31, 32, 33, 62, 63, 95, 96]],
])('%s and the hours before them add up, from any start', async (_name, every, asked) => {
  const opened = open(() => []);
  const hours = Array.from({ length: 96 }, (_, i) =>
    used('compat', `u${i % 3}`, null, { ts: i * every * hour + 7, cost_usd: i / 64 }),
  );
  for (let i = 0; i < hours.length; i += 10) await opened.ingest(hours.slice(i, i + 10));
  for (const from of asked) {
    const { people: rows } = await people(opened, from * every * hour + 5);
    const expected = hours.slice(from);
    expect(rows.reduce((sum, { turns }) => sum + turns, 0)).toBe(expected.length);
    expect(rows.reduce((sum, { cost_usd }) => sum + cost_usd, 0)).toBe(expected.reduce((sum, { cost_usd }) => sum + cost_usd, 0));
  }
});

const handle = fc.record({
  surface: fc.constantFrom('messenger', 'issues'),
  identity: fc.constantFrom('Anna', 'anna', ' ANNA', '4711', 'x'),
});
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('use' as const),
      handle,
      cost: fc.integer({ min: 0, max: 4000 }),
      billed: fc.boolean(),
      isSide: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('link' as const), handle, to: fc.constantFrom('p1', 'p2') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('unlink' as const), handle }) },
);
const norm = (text: string) => text.trim().toLowerCase();

test('for any order of use, linking and unlinking the rows equal a recount of the events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      // Links are to the letter, as the core keeps them: surface and value to the principal of the moment.
      const links = new Map<string, { surface: string; value: string; key: string }>();
      const principals = (): Linked[] =>
        ['p1', 'p2'].map((key) => ({
          key,
          display_name: key,
          identifiers: [...links.values()].filter((link) => link.key === key),
        }));
      const own = openTestCollector({}, undefined, { readPrincipals: () => Promise.resolve(principals()) });
      try {
        const events: {
          surface: string;
          identity: string;
          principal: string | null;
          cost: number;
          billed: number;
          isSide: boolean;
        }[] = [];
        for (const [i, { handle: at, ...each }] of steps.entries()) {
          const id = `${at.surface}\0${at.identity}`;
          if (each.do === 'unlink') links.delete(id);
          else if (each.do === 'link') links.set(id, { surface: at.surface, value: at.identity, key: each.to });
          else {
            const event = {
              ...at,
              principal: links.get(id)?.key ?? null,
              cost: each.cost,
              billed: each.billed ? each.cost : 0,
              isSide: each.isSide,
            };
            events.push(event);
            await own.ingest({
              ...used(at.surface, at.identity, event.principal),
              id: `e${i}`,
              ts: hour * (i % 30),
              cost_usd: event.cost / 1024,
              billed_cost_usd: event.billed / 1024,
              payload: event.isSide ? { feature: 'title', input_tokens: 1 } : { input_tokens: 1 },
            });
          }
        }
        const toTheLetter = (surface: string, identity: string) => links.get(`${surface}\0${identity}`)?.key;
        const ownersOf = (surface: string, identity: string) =>
          new Set(
            [...links.values()]
              .filter((link) => link.surface === surface && norm(link.value) === norm(identity))
              .map(({ key }) => key),
          );
        const expected = new Map<string, { turns: number; cost: number; billed: number }>();
        for (const { surface, identity, principal, cost, billed, isSide } of events) {
          const owners = ownersOf(surface, identity);
          const linked = owners.size === 1 ? [...owners][0] : undefined;
          const owner = toTheLetter(surface, identity) ?? linked ?? principal;
          const person = isSide ? 'side' : (owner ?? `${surface}:${norm(identity)}`);
          const sum = expected.get(person) ?? { turns: 0, cost: 0, billed: 0 };
          expected.set(person, { turns: sum.turns + 1, cost: sum.cost + cost, billed: sum.billed + billed });
        }
        const answer = await people(own);
        const found = new Map(
          answer.people.map(({ principal, handles, turns, cost_usd, billed_cost_usd }) => [
            principal ?? `${handles[0]?.surface}:${handles[0]?.identity}`,
            { turns, cost: cost_usd * 1024, billed: billed_cost_usd * 1024 },
          ]),
        );
        const sideSum = answer.side.reduce(
          (sum, row) => ({
            turns: sum.turns + row.calls,
            cost: sum.cost + row.cost_usd * 1024,
            billed: sum.billed + row.billed_cost_usd * 1024,
          }),
          { turns: 0, cost: 0, billed: 0 },
        );
        if (sideSum.turns > 0) found.set('side', sideSum);
        expect(found).toEqual(expected);
      } finally {
        await own.close();
      }
    }),
    { numRuns: 40 },
  );
}, 120_000);
