import type { SystemSample } from '@svc/contract/insights.ts';
import type { History, HistoryMessage } from '@svc/contract/session.ts';

/** A question and its answer; two of them contain a search word. */
export const said = (index: number): History['messages'] => {
  const base = {
    turn_id: `t${index}`,
    sender: 'Anna',
    state: 'delivered',
    outcome: 'replied',
    attachments: [],
    tools: [],
  } satisfies Partial<HistoryMessage>;
  const words =
    index === 3 ? 'A Needle in the hay.' : index === 140 ? 'A **need**le in the hay.' : 'Some words of it. '.repeat(index % 7);
  return [
    { ...base, message_id: `m${index}`, role: 'user', text: `Question ${index}`, at: index * 10 + 1 },
    { ...base, message_id: null, role: 'assistant', text: words, at: index * 10 + 2 },
  ];
};

const dayMs = 86_400_000;
/** The usage of three people on a day, a number of days ago. */
export const usageOf = (day: number) =>
  ['Anna', 'Bert', 'A person with a long name'].map((identity, index) => ({
    id: `used_${day}_${index}`,
    ts: Date.now() - day * dayMs,
    kind: 'token-usage',
    surface: 'web',
    identity,
    cost_usd: (day % 4) + index / 2,
    billed_cost_usd: day / 10,
    billed: true,
    payload: { input_tokens: 1000, output_tokens: 100 },
  }));

/** An hour of machine samples, the newest first. */
export const samples = (): SystemSample[] =>
  Array.from({ length: 240 }, (_, index) => ({
    at: Date.now() - index * 15_000,
    cpu_percent: 40 + 30 * Math.sin(index / 20),
    cores: 2,
    load: [1, 1, 1],
    memory_used_bytes: 4e9 + index * 1e6,
    memory_total_bytes: 8e9,
    disk_used_bytes: 1e9,
    disk_total_bytes: 1e10,
    processes: ['core', 'manager', 'collector'].map((name, pid) => ({
      name,
      kind: 'host',
      pid,
      memory_bytes: (3 - pid) * 5e7 + index * 1e5,
      cpu_percent: 5 * (pid + 1) + Math.sin(index / 10),
    })),
  }));

/** The number of charts with a pixel of this colour. */
export const painted = (colour: string) => `(() => {
  const [red, green, blue] = ${JSON.stringify(colour)}.match(/\\d+/g).map(Number);
  return [...document.querySelectorAll('.chart canvas')].filter((canvas) => {
    if (canvas.width === 0 || canvas.height === 0) return false;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) return true;
    return false;
  }).length;
})()`;

/** The text that is marked as the current match, when it is in view. */
export const markedInSight = `(() => {
  const [range] = CSS.highlights.get('find-current') ?? [];
  if (range === undefined) return null;
  const { top, bottom } = range.getBoundingClientRect();
  const box = document.querySelector('.transcript').getBoundingClientRect();
  return top >= box.top && bottom <= box.bottom ? range.toString() : 'out of sight';
})()`;

/** Delays each page of older messages until the frame in which a marked match comes into view. */
export const holdOlder = `(() => {
  const { fetch } = globalThis;
  const isMarked = () => ${markedInSight} !== null;
  globalThis.fetch = async (...given) => {
    const answer = await fetch(...given);
    if (!String(given[0]).includes('before=')) return answer;
    const text = await answer.text();
    await new Promise((resolve) => {
      const look = () => (isMarked() ? resolve() : requestAnimationFrame(look));
      look();
    });
    return new Response(text, answer);
  };
})()`;
