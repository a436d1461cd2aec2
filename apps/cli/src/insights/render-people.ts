import type { UsageByPerson, UsagePerson } from '@svc/contract/usage.ts';
import type { Style } from '../terminal.ts';
import { amount, besideTurns, line, table, usd, withoutPrice } from './words.ts';

const maxHandles = 3;

/** The use of each person under all handles, and its cost: the list price, and the part that a vendor bills. */
export function renderPeople({ people, side, links_known, truncated }: UsageByPerson, style: Style): string {
  if (people.length === 0 && side.length === 0) return 'Nothing was used in this period.';
  const head = ['WHO', 'TURNS', 'INPUT', 'OUTPUT', 'LIST PRICE', 'BILLED', 'HANDLES'];
  const all = sumOf(people);
  const lines = table([head, ...people.map((person) => cells(person)), cells(all, 'all')], [1, 2, 3, 4, 5]);
  return [
    style.bold(lines[0] ?? ''),
    ...lines.slice(1),
    ...besideTurns(side, all),
    ...withoutPrice(all.unpriced_turns, 'turn').map((text) => `  ${style.yellow(text)}`),
    ...(links_known ? [] : [`  ${style.yellow('The core is away: handles that were linked later are shown apart.')}`]),
    ...(truncated ? [`  ${style.yellow('Not everybody is shown. Ask for a shorter time with --since.')}`] : []),
  ].join('\n');
}

function cells(person: UsagePerson, name = nameOf(person)): string[] {
  const { turns, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, cost_usd, billed_cost_usd } = person;
  const input = input_tokens + cache_read_tokens + cache_write_tokens;
  return [
    line(name, 60),
    amount(turns),
    amount(input),
    amount(output_tokens),
    usd(cost_usd),
    usd(billed_cost_usd),
    handlesOf(person),
  ];
}

const nameOf = ({ principal, name, handles }: UsagePerson): string =>
  principal === null ? `${handles[0]?.identity ?? 'unknown sender'} (not linked)` : (name ?? principal);

/** The channels and handles where it was used, without the person's own key. */
function handlesOf({ principal, handles }: UsagePerson): string {
  const names = [
    ...new Set(handles.map(({ surface, identity }) => (identity === principal ? surface : `${surface}:${identity}`))),
  ];
  const rest = names.length > maxHandles ? [`and ${names.length - maxHandles} more`] : [];
  return line([...names.slice(0, maxHandles), ...rest].join(', '), 80);
}

const total = <K extends string>(rows: readonly Record<K, number>[], field: K): number =>
  rows.reduce((sum, row) => sum + row[field], 0);

const sumOf = (people: readonly UsagePerson[]): UsagePerson => ({
  principal: null,
  name: null,
  handles: [],
  turns: total(people, 'turns'),
  input_tokens: total(people, 'input_tokens'),
  output_tokens: total(people, 'output_tokens'),
  cache_read_tokens: total(people, 'cache_read_tokens'),
  cache_write_tokens: total(people, 'cache_write_tokens'),
  estimated_turns: total(people, 'estimated_turns'),
  unpriced_turns: total(people, 'unpriced_turns'),
  cost_usd: total(people, 'cost_usd'),
  billed_cost_usd: total(people, 'billed_cost_usd'),
});
