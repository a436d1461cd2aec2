import type { Envelope } from '@svc/contract/envelope.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { createCoreLink, type CoreLink } from '@svc/connector-kit/core-link.ts';
import type { StreamHandlers } from '@svc/connector-kit/connector.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { openConnectorPasses } from '@svc/service-kit/connector-pass.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { pause } from '@svc/testing/pause.ts';
import type { CoreProcess } from './core-process.ts';

/** How a message is sent: over a lasting link or one that is closed, by HTTP with retries or once. */
export type Way = 'link' | 'leaving link' | 'http' | 'http once' | 'inject';

/** A message and what its sender has seen. Its name is the last word of its text, and its target for pushes. */
export type Sent = {
  name: string;
  key: string;
  text: string;
  way: Way;
  isRouted: boolean;
  /** When the core first showed that it has the message, and when it first showed that the message runs, epoch ms. */
  knownAt: number | null;
  runsAt: number | null;
  outcome: string | null;
  error: string | null;
  shown: number;
  /** Its sender has given up and will not return. */
  hasLeft: boolean;
};

type Answer = HandleResult & { error?: string };

/** The senders of the load. Each finishes when the core answers, or when its time is over after `stop`. */
export function createClients(core: CoreProcess, random: () => number) {
  let passes: ReturnType<typeof openConnectorPasses> | null = null;
  /** A process of the instance in a conversation's key. */
  const linkOf = (key: string): CoreLink => {
    const [type = '', instanceId = ''] = key.split(':');
    passes ??= openConnectorPasses(core.passKey);
    const pass = passes.issue({ type, instanceId }).reveal();
    return createCoreLink({ socketPath: core.socket, pass, clock: systemClock, log: () => undefined });
  };
  const links = new Map<string, CoreLink[]>();
  const oneOf = (key: string): CoreLink => {
    const instance = key.split(':', 2).join(':');
    const open = links.get(instance) ?? Array.from({ length: 4 }, () => linkOf(key));
    links.set(instance, open);
    return open[Math.floor(random() * open.length)] ?? linkOf(key);
  };
  let isStopping = false;

  async function send(sent: Sent): Promise<void> {
    if (sent.way === 'link') await overLink(sent, oneOf(sent.key));
    else if (sent.way === 'leaving link') await leavingLink(sent);
    else if (sent.way === 'inject') await inject(sent);
    else await byHttp(sent);
  }

  async function overLink(sent: Sent, by: CoreLink): Promise<void> {
    const isStreamed = random() < 0.5;
    try {
      const result = await (isStreamed
        ? by.handleStream(envelopeOf(sent), watching(sent), { confirm: true })
        : by.handle(envelopeOf(sent), { confirm: true }));
      answered(sent, result);
      if (result.actions.length === 0) return;
      const isShown = random() < 0.9;
      if (isShown) sent.shown++;
      by.delivered(result.turn_id, isShown ? undefined : 'the channel said no');
    } catch (error) {
      failed(sent, error as { code?: string });
    }
  }

  /** A connector that crashes while waiting; nobody fetches the answer. */
  async function leavingLink(sent: Sent): Promise<void> {
    const own = linkOf(sent.key);
    const leave = setTimeout(() => own.close(), random() * 400);
    try {
      answered(sent, await own.handleStream(envelopeOf(sent), watching(sent), { confirm: true }));
    } catch (error) {
      failed(sent, error as { code?: string });
    }
    clearTimeout(leave);
    sent.hasLeft = true;
    own.close();
  }

  async function byHttp(sent: Sent): Promise<void> {
    for (;;) {
      try {
        const { status, body } = await requestJson<Answer>(`${core.url}/v2/handle`, {
          body: envelopeOf(sent),
          timeoutMs: 20_000,
        });
        if (body.error === 'unavailable') throw new Error('the core is stopping');
        if (status < 300) answered(sent, body);
        else failed(sent, { code: body.error });
        if (status < 300 && body.actions.length > 0) sent.shown++;
        return;
      } catch {
        if (sent.way === 'http once' || isStopping) return void (sent.hasLeft = true);
        await pause(40 + random() * 120);
      }
    }
  }

  async function inject(sent: Sent): Promise<void> {
    try {
      const body = { conversation_key: sent.key, text: sent.text };
      const answer = await requestJson<Answer>(`${core.url}/v2/inject`, { body, timeoutMs: 20_000 });
      if (answer.body.error === 'unavailable') throw new Error('the core is stopping');
      if (answer.status < 300) answered(sent, answer.body);
      else failed(sent, { code: answer.body.error });
    } catch {
      sent.hasLeft = true;
    }
  }

  return {
    send,
    /** From now on, senders without an early answer may give up. */
    stop: () => void (isStopping = true),
    close: () => [...links.values()].flat().forEach((one) => one.close()),
  };
}

function answered(sent: Sent, result: HandleResult): void {
  sent.knownAt ??= Date.now();
  sent.outcome = result.outcome;
}

/** Errors of the link itself are not answers of the core. */
function failed(sent: Sent, { code }: { code?: string }): void {
  if (code === undefined || code === 'unavailable') return void (sent.hasLeft = true);
  if (!['queue_full', 'not_found'].includes(code)) sent.knownAt ??= Date.now();
  sent.error = code;
}

function watching(sent: Sent): StreamHandlers {
  const runs = () => {
    sent.knownAt ??= Date.now();
    sent.runsAt ??= Date.now();
  };
  return { onQueued: () => void (sent.knownAt ??= Date.now()), onDelta: runs, onSegment: runs };
}

const envelopeOf = ({ name, key, text, isRouted }: Sent): Envelope => ({
  channel: key.split(':')[0] ?? '',
  conversation_key: key,
  message_id: name,
  sender: { raw_id: 'anna' },
  content: { text },
  channel_context: isRouted ? { chatId: name } : {},
});
