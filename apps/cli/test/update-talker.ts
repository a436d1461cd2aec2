import { userInfo } from 'node:os';
import type { History, HistoryMessage } from '@svc/contract/session.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';

const conversation = 'shell:svc-update-talk';
/** Now and then: each message is work of the core and the collector. */
const pauseMs = 500;
const answerMs = 20_000;

/** A person who goes on talking whatever becomes of the service, and sends again with its id what got no answer, as channels do. */
export type Talker = {
  /** How many messages were answered so far. */
  answered(): number;
  /** Says no more, and gives what is wrong with what was said: messages without their one place in the history, or without an answer there. */
  end(): Promise<string[]>;
};

export function startTalker(coreUrl: string): Talker {
  const sent: string[] = [];
  const session = `${Date.now()}`;
  let isOver = false;

  const say = async (text: string): Promise<boolean> => {
    const { username } = userInfo();
    const body = {
      channel: 'shell',
      conversation_key: conversation,
      message_id: `talk-${session}-${text}`,
      sender: { raw_id: username, raw_username: username },
      content: { text },
      delivery: 'sync',
      capabilities: { supports_markdown: true, supports_code_blocks: true, actions: [] },
    };
    try {
      const { status } = await requestJson(`${coreUrl}/v2/handle`, { body, timeoutMs: answerMs });
      return status === 200;
    } catch {
      return false; // it is away, or went away: the same is sent again
    }
  };
  const talking = (async () => {
    for (let n = 1; !isOver; n += 1) {
      const text = `m${session}-${n}`;
      while (!(await say(text))) await pause();
      sent.push(text);
      await pause();
    }
  })();

  return {
    answered: () => sent.length,
    async end() {
      isOver = true;
      await talking;
      const history = await readAll(coreUrl);
      const said = Map.groupBy(
        history.filter(({ role }) => role === 'user'),
        ({ text }) => text,
      );
      const answered = new Set(history.flatMap(({ role, turn_id }) => (role === 'assistant' ? [turn_id] : [])));
      return sent.flatMap((text) => {
        const [own, ...others] = said.get(text) ?? [];
        if (own === undefined || others.length > 0)
          return [`${text} is there ${own === undefined ? 0 : others.length + 1} times`];
        return answered.has(own.turn_id) ? [] : [`${text} has no answer`];
      });
    },
  };
}

async function readAll(coreUrl: string): Promise<HistoryMessage[]> {
  const url = `${coreUrl}/v2/session/${encodeURIComponent(conversation)}/history?limit=1000`;
  const all: HistoryMessage[] = [];
  for (let before = ''; ;) {
    const { messages, next } = (await requestJson<History>(`${url}${before}`, { timeoutMs: 10_000 })).body;
    all.push(...messages);
    if (next === null) return all;
    before = `&before=${next}`;
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, pauseMs));
