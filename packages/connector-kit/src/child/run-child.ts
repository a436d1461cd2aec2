import { flushCompileCache } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock } from '@svc/service-kit/clock.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { ParentMessage } from '../child-protocol.ts';
import type { Connector, RunningConnector, StartContext } from '../connector.ts';
import { createCoreLink, type CoreLink } from '../core-link.ts';
import { intakeOf } from '../intake-config.ts';
import { createFileTickets, type FileTickets } from '../open-file.ts';
import { withCommonFields } from '../reply-style.ts';
import { createFileState } from '../state/file-state.ts';
import { createSpeech } from '../speech.ts';
import { createUploads } from '../uploads.ts';
import { createChildLog, type ChildLog } from './child-log.ts';
import { confineProcess } from './confine-process.ts';
import { createParentLink, type ParentLink } from './parent-link.ts';
import { shareKit } from './share-kit.ts';
import { createTriage } from '../triage.ts';
import { startFailure } from './start-failure.ts';
import { watchHealth } from './watch-health.ts';

type StartMessage = Extract<ParentMessage, { type: 'start' }>;
type Child = {
  tickets: FileTickets;
  message: StartMessage;
  log: ChildLog;
  parent: ParentLink;
  core: CoreLink;
  shutdown: AbortController;
};
/** `outboundPort`: where the manager can post to, on the connector's own server or on one of the kit's. */
type Live = {
  running: RunningConnector;
  outboundPort: number | null;
  /** Resolves when no message is on its way to the channel. */
  drain(): Promise<void>;
  stopOutbound(): Promise<void>;
};

/**
 * The life of a connector process: one `start` message, "ready" to the manager, heartbeats while healthy, and an end by `stop` message, by
 * SIGTERM or by the end of the manager, within the deadline of the start message. Exit code 0 means an orderly stop, 1 everything else.
 */
export function runChild(): void {
  confineProcess();
  const parent = createParentLink(systemClock);
  const log = createChildLog(process.env['SVC_LOG_LEVEL'] === 'debug');
  const shutdown = new AbortController();
  let started: Promise<void> | null = null;
  const end = (why: string) => {
    if (shutdown.signal.aborted) return;
    if (started !== null) log('info', 'stopping', { why });
    shutdown.abort();
    if (started === null) process.exit(0);
  };

  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end(signal));
  process.on('disconnect', () => end('the manager has exited'));
  process.on('uncaughtException', (error) => {
    log('fatal', 'uncaught fault', { error: errorText(error), stack: error?.stack });
    process.exit(1);
  });
  parent.onStop(() => end('asked to'));
  parent.onStart((message) => {
    if (started !== null) return;
    log.bind(message.connectorType, message.instanceId);
    const intake = intakeOf(message.config);
    const link = createCoreLink({ socketPath: message.coreSocket, pass: message.pass, clock: systemClock, log, intake });
    const core = withCommonFields(link, message.config);
    started = live({ tickets: createFileTickets(), message, log, parent, core, shutdown });
  });
}

async function live(child: Child): Promise<void> {
  const { shutdown } = child;
  const stopAsked = new Promise<void>((resolve) => shutdown.signal.addEventListener('abort', () => resolve(), { once: true }));
  void stopAsked.then(() => endInTime(child));
  const connector = await begin(child);
  const stopBeats = shutdown.signal.aborted ? () => undefined : announce(child, connector);
  await stopAsked;
  stopBeats();
  await finish(child, connector);
}

async function begin(child: Child): Promise<Live> {
  const { message, log, parent, shutdown } = child;
  try {
    shareKit(message.entry);
    // The cast: the entry is a module of the connector contract, checked by its contract suite.
    const connector = (await import(pathToFileURL(message.entry).href)) as Connector;
    if (typeof connector.start !== 'function') throw new Error(`${message.entry} does not export start().`);
    let drain: (() => Promise<void>) | null = null;
    const context = toStartContext(child, (given) => (drain = given));
    const running: Partial<RunningConnector> | undefined = await connector.start(context);
    if (typeof running?.stop !== 'function' || typeof running.health !== 'function')
      throw new Error('start() of this connector must return { stop, health }.');
    const outbound = await openOutbound(context, running as RunningConnector, drain !== null);
    return { running: running as RunningConnector, drain: async () => drain?.(), ...outbound };
  } catch (error) {
    // The start was cancelled, so its failure is not an error.
    if (shutdown.signal.aborted) process.exit(0);
    const reason = startFailure(error, message.config);
    log('fatal', `could not start: ${reason}`, { stack: error instanceof Error ? error.stack : undefined });
    await parent.sendLast({ type: 'failed', message: reason });
    process.exit(1);
  }
}

/** A connector that serves `/out` itself shows this by mounting the routes; one without abilities gets no server. */
async function openOutbound(
  context: StartContext,
  running: RunningConnector,
  isMounted: boolean,
): Promise<Pick<Live, 'outboundPort' | 'stopOutbound'>> {
  const stopOutbound = async () => undefined;
  if (isMounted) return { outboundPort: running.port ?? null, stopOutbound };
  const { send, call, channels, toggleChannel } = running;
  if ((send ?? call ?? channels ?? toggleChannel) === undefined) return { outboundPort: null, stopOutbound };
  const { serveOutbound } = await import('./serve-outbound.ts');
  const { port, stop } = await serveOutbound(context, running);
  return { outboundPort: port, stopOutbound: stop };
}

const toStartContext = (
  { tickets, message, log, parent, core, shutdown }: Child,
  onMount: (drain: () => Promise<void>) => void,
): StartContext => ({
  instanceId: message.instanceId,
  instanceName: message.instanceName,
  type: message.connectorType,
  config: message.config,
  version: { service: message.connectorType, ...message.release, started_at: Date.now(), node: process.versions.node },
  assistantName: message.assistantName,
  dataDir: message.dataDir,
  connectorDir: path.dirname(message.entry),
  packages: message.packages,
  allowedHosts: message.allowedHosts,
  stopTimeoutMs: message.stopTimeoutMs,
  core,
  secrets: { get: (name) => parent.getSecret(name) },
  uploads: createUploads({ coreUrl: message.coreUrl, pass: message.pass, tickets, clock: systemClock, signal: shutdown.signal }),
  state: createFileState(path.join(message.dataDir, 'state.jsonl'), log),
  speech: createSpeech({ coreUrl: message.coreUrl, pass: message.pass, signal: shutdown.signal }),
  triage: createTriage({ coreUrl: message.coreUrl, pass: message.pass, signal: shutdown.signal }),
  emit: (event) => parent.emit(event),
  log,
  heartbeat: () => parent.send({ type: 'heartbeat' }),
  signal: shutdown.signal,
  outboundAccess: { ...message.outbound, onMount, onTicket: tickets.note },
});

/** Tells the manager that the connector runs, and from then on its health. Returns a function that ends this. */
function announce({ log, parent, message }: Child, { running, outboundPort }: Live): () => void {
  log('info', 'ready', { url: running.url });
  const { port = null, url = null, firstSteps, inviteLink } = running;
  parent.send({
    type: 'ready',
    port,
    url,
    outboundPort,
    ...(firstSteps !== undefined && { first_steps: firstSteps }),
    ...(inviteLink !== undefined && { invite_link: inviteLink }),
  });
  // A killed process writes no compile cache, and the next start would have to compile again.
  setImmediate(() => flushCompileCache());
  return watchHealth({ parent, log, clock: systemClock, heartbeatMs: message.heartbeatMs }, running);
}

async function finish({ message, log, core }: Child, { running, drain, stopOutbound }: Live): Promise<void> {
  try {
    // New messages are already refused; those on their way get time to finish, so that their outcome is known.
    const patience = new Promise<void>((resolve) => void systemClock.after(message.stopTimeoutMs * 0.4, resolve));
    await Promise.race([drain(), patience]);
    await Promise.all([running.stop(), stopOutbound()]);
  } catch (error) {
    log('error', 'stopping failed', { error: errorText(error) });
    process.exit(1);
  }
  core.close();
  process.exit(0);
}

function endInTime({ message, log }: Child): void {
  setTimeout(() => {
    log('fatal', 'did not stop in time; ending now');
    process.exit(1);
  }, message.stopTimeoutMs).unref();
}
