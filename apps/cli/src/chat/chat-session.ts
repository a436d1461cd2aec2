import type { Envelope } from '@svc/contract/envelope.ts';
import { randomIds } from '@svc/service-kit/ids.ts';
import { printError, visible, type Style } from '../terminal.ts';
import { abortTurn, streamTurn, type TurnEnd } from './stream-turn.ts';
import { createTurnView, type TurnVerdict, type TurnView } from './turn-view.ts';

/** One conversation with the core from this shell. */
export type ChatSession = {
  readonly conversationKey: string;
  /** Runs one message and shows it; Ctrl-C ends the turn, a second one the waiting for it. */
  say(text: string): Promise<TurnVerdict>;
  /** The same without showing anything. */
  run(text: string): Promise<TurnEnd>;
};

type Options = { coreUrl: string; user: string; name: string; style: Style };

export function createChatSession({ coreUrl, user, name, style }: Options): ChatSession {
  const conversationKey = `shell:${user}:${name}`;
  const toEnvelope = (text: string): Envelope => ({
    channel: 'shell',
    conversation_key: conversationKey,
    message_id: randomIds.next('msg'),
    sender: { raw_id: user, raw_username: user },
    content: { text },
    delivery: 'sync',
    capabilities: { supports_markdown: true, supports_code_blocks: true },
  });
  const runTurn = (text: string, view: TurnView | null) =>
    abortable(coreUrl, conversationKey, (signal) =>
      streamTurn(coreUrl, toEnvelope(text), { signal, onFrame: (frame) => view?.show(frame) }),
    );
  return {
    conversationKey,
    run: (text) => runTurn(text, null),
    async say(text) {
      const view = createTurnView({ answer: say, aside: (part) => void process.stderr.write(part) }, style);
      return view.finish(await runTurn(text, view));
    },
  };
}

/** A pipe gets the answer as it is; a terminal nothing that commands it. */
const say = (part: string) => void process.stdout.write(process.stdout.isTTY ? visible(part) : part);

/** While `run` lasts, Ctrl-C asks the core to end the turn; its answer says how far it came. A second one leaves. */
async function abortable<T>(coreUrl: string, conversationKey: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const leaving = new AbortController();
  let asked = false;
  const onInterrupt = () => {
    if (asked) return leaving.abort(new Interrupted());
    asked = true;
    abortTurn(coreUrl, conversationKey).then(
      (running) => running || printError('Nothing to stop yet; Ctrl-C again leaves.'),
      () => leaving.abort(new Interrupted()),
    );
  };
  process.on('SIGINT', onInterrupt);
  try {
    return await run(leaving.signal);
  } catch (error) {
    throw leaving.signal.aborted ? new Interrupted() : error;
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

/** The person did not want to wait for the end of the turn. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}
