import { CoreError, userKey, type RunningConnector, type SessionsApi, type StartContext } from '@svc/connector-kit';
import type { SessionAsker } from '@svc/contract/link.ts';
import type { Session } from '@svc/contract/session.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';
import type { Config } from './meta.ts';

const lookEveryMs = 30_000;
/** Number of newest sessions to search: those in terminals are in use, and so among them. */
const looksAt = 500;

/**
 * Passes messages of `POST /send` to terminals. It runs no program and reads no screen: the core types, and the collector's control plane
 * presses keys.
 */
export async function start(ctx: StartContext<Config>): Promise<RunningConnector> {
  const { core, config, log, signal } = ctx;
  const as: SessionAsker = { channel: 'terminal', sender: { raw_id: config.sender } };
  let problem: string | null = null;
  const terminals = async (): Promise<Session[]> => {
    // Anyone else sees no terminals, which reveals less than an error about missing rights.
    const { denied, trust_tier: tier } = await core.resolve({
      ...as,
      conversation_key: userKey('terminal', ctx.instanceId, config.sender),
    });
    if (denied || tier !== 'SACRED') throw new ServiceError('forbidden', noRight(config.sender));
    return openSessions(core.sessions, as);
  };
  const look = async (): Promise<void> => {
    problem = await terminals().then(
      () => null,
      (error: unknown) => wordsOf(error, config.sender),
    );
    if (problem !== null) log('warn', 'terminals are not available', { problem });
  };
  await look();
  const timer = setInterval(() => void look(), lookEveryMs);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });

  return {
    firstSteps: `Let "${config.sender}" in as yourself: ./svc person link owner terminal ${config.sender}`,
    stop: async () => clearInterval(timer),
    health: () => (problem === null ? { healthy: true } : { healthy: false, detail: problem }),
    async channels() {
      const sessions = await terminals();
      return sessions.map(({ conversation_key, tmux_target, title }) => ({
        id: tmux_target ?? conversation_key,
        name: title ?? conversation_key,
        enabled: true,
        conversation_key,
      }));
    },
    async send({ id, target, kind, text = '' }) {
      try {
        const sessions = await terminals();
        const found = sessions.find((one) => one.tmux_target === target || one.conversation_key === target);
        if (found === undefined)
          throw new ServiceError('unprocessable', `There is no terminal ${target}. List them with: ./svc terminal`);
        // If the text cannot be typed now, the core keeps it, and types it as soon as the program waits for a message.
        await core.sessions.inject(as, found.conversation_key, { text, interrupt: kind === 'interrupt', message_id: id });
      } catch (error) {
        if (!(error instanceof ServiceError) || !lasting.includes(error.code)) throw error;
        throw new ServiceError('unprocessable', wordsOf(error, config.sender));
      }
    },
  };
}

/** Errors that a retry cannot resolve. */
const lasting: readonly string[] = ['no_access', 'forbidden', 'conflict', 'not_found', 'bad_request'];

async function openSessions(sessions: SessionsApi, as: SessionAsker): Promise<Session[]> {
  const open: Session[] = [];
  let before: string | undefined;
  for (let seen = 0; seen < looksAt;) {
    const page = await sessions.list(as, { limit: 100, ...(before !== undefined && { before }) });
    open.push(...page.sessions.filter(({ multiplexer }) => multiplexer === 'tmux'));
    if (page.next === null || page.sessions.length === 0) break;
    before = page.next;
    seen += page.sessions.length;
  }
  return open;
}

function wordsOf(error: unknown, sender: string): string {
  if (error instanceof CoreError && (error.code === 'no_access' || error.code === 'forbidden')) return noRight(sender);
  return error instanceof Error ? error.message : String(error);
}

const noRight = (sender: string): string =>
  `"${sender}" has no permission to type here. To let it type as you: ./svc person link owner terminal ${sender}`;
