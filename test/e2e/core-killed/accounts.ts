import { readFileSync } from 'node:fs';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import type { Sent } from './clients.ts';
import type { CoreProcess } from './core-process.ts';
import type { Pushed, StubManager } from './stub-manager.ts';

type Delivery = { id: string; turn_id: string; state: 'pending' | 'delivered' | 'failed'; next: number | null };
type HistoryMessage = { turn_id: string; role: string; text: string };
type Run = { name: string; at: number; isResumed: boolean; overlaps: boolean };

/** Everything that is known about a message at the end. */
type Account = { sent: Sent; turnId: string | null; hasAnswer: boolean; pushed: Pushed; isListed: boolean; runs: Run[] };

const get = async <T>(url: string): Promise<T> => (await requestJson<T>(url, { timeoutMs: 10_000 })).body;

/** Retries all failed deliveries at once. Returns how many are still waiting. */
export async function pushAll(core: CoreProcess): Promise<number> {
  const { deliveries } = await get<{ deliveries: Delivery[] }>(`${core.url}/v2/deliveries?state=pending&limit=1000`);
  for (const { id } of deliveries)
    await requestJson(`${core.url}/v2/deliveries/${id}/retry`, { method: 'POST', timeoutMs: 10_000 });
  return deliveries.length;
}

/** Every broken rule, as text. */
export async function findBroken(core: CoreProcess, manager: StubManager, all: Sent[]): Promise<string[]> {
  const turns = await turnsOf(core, new Set(all.map(({ key }) => key)));
  const deliveries = await allDeliveries(core);
  const listed = new Set(deliveries.filter(({ state }) => state === 'failed').map(({ turn_id }) => turn_id));
  const turnOf = new Map(deliveries.map(({ id, turn_id }) => [id, turn_id]));
  const runs = readRuns(core);
  return all.flatMap((sent) => {
    const turnId = turns.ids.get(sent.name) ?? null;
    const hasAnswer = turnId !== null && turns.answered.has(turnId);
    const isListed = turnId !== null && listed.has(turnId);
    const own = runs.get(sent.name) ?? [];
    const account = { sent, turnId, hasAnswer, pushed: pushedFor(manager, turnId, turnOf), isListed, runs: own };
    return brokenRules(account).map((rule) => `${rule}: ${JSON.stringify({ ...account, pushed: [...account.pushed] })}`);
  });
}

function brokenRules({ sent, turnId, hasAnswer, pushed, isListed, runs }: Account): string[] {
  const { outcome, error, shown, knownAt, runsAt, isRouted, hasLeft } = sent;
  const isTold = error !== null || (outcome !== null && outcome !== 'delivered');
  // A sender without pushes who leaves at the moment of the answer gets it when the message is sent again.
  const isKept = !isRouted && hasLeft && hasAnswer;
  const known = knownAt ?? Number.POSITIVE_INFINITY;
  const first = runs[0];
  const plainAgain = runs.filter((run) => !run.isResumed && run !== first && run.at > (runsAt ?? Number.POSITIVE_INFINITY));
  const rules: [boolean, string][] = [
    [knownAt !== null && turnId === null && !isTold, 'acknowledged and forgotten'],
    [turnId !== null && !isTold && !isKept && pushed.size === 0 && !isListed, 'neither answered nor delivered nor listed'],
    [!isTold && !hasLeft && outcome !== 'delivered', 'its sender still waits'],
    [outcome === 'replied' && isRouted && shown + pushed.size === 0 && !isListed, 'its reply is nowhere'],
    [pushed.size > 1, 'pushed with more than one id'],
    [shown > 0 && pushed.size > 0 && sent.way === 'link', 'shown and pushed'],
    [runs.filter((run) => run.isResumed).length > 1, 'resumed more than once'],
    [runs.filter((run) => run.at > known).length > 2, 'run more than twice after it was acknowledged'],
    [plainAgain.length > 0, 'begun again after it was seen to run'],
    [runs.some((run) => run.overlaps), 'run beside another turn of its conversation'],
    [isTold && error === null && runs.length === 0 && outcome === 'replied', 'answered without a run'],
  ];
  return rules.flatMap(([isBroken, rule]) => (isBroken ? [rule] : []));
}

/** What was pushed to the channel for a turn. An operator's message is answered where the session was last, to any person. */
const pushedFor = ({ targets }: StubManager, turnId: string | null, turnOf: ReadonlyMap<string, string>): Pushed =>
  new Map([...targets.values()].flatMap((pushed) => [...pushed]).filter(([id]) => turnId !== null && turnOf.get(id) === turnId));

/** Turn ids by the name of their message, and the turns with an answer, from the history of all conversations. */
async function turnsOf(core: CoreProcess, keys: Set<string>) {
  const ids = new Map<string, string>();
  const answered = new Set<string>();
  for (const key of keys) {
    for (let before = ''; ;) {
      const url = `${core.url}/v2/session/${encodeURIComponent(key)}/history?limit=1000${before}`;
      const { messages = [], next = null } = await get<{ messages?: HistoryMessage[]; next?: number | null }>(url);
      for (const { role, text, turn_id } of messages) {
        if (role === 'user' || role === 'operator') ids.set(text.split(' ').at(-1) ?? '', turn_id);
        else if (role === 'assistant') answered.add(turn_id);
      }
      if (next === null) break;
      before = `&before=${next}`;
    }
  }
  return { ids, answered };
}

async function allDeliveries(core: CoreProcess): Promise<Delivery[]> {
  const all: Delivery[] = [];
  for (let before = ''; ;) {
    const url = `${core.url}/v2/deliveries?limit=1000${before}`;
    const { deliveries, next } = await get<{ deliveries: Delivery[]; next: number | null }>(url);
    all.push(...deliveries);
    if (next === null) return all;
    before = `&before=${next}`;
  }
}

function readRuns({ runsFile }: CoreProcess): Map<string, Run[]> {
  const lines = readFileSync(runsFile, 'utf8').split('\n').filter(Boolean);
  return Map.groupBy(
    lines.map((line) => JSON.parse(line) as Run),
    ({ name }) => name,
  );
}
