import { createIngress, errorText, systemClock, type Clock, type RunningConnector, type StartContext } from '@svc/connector-kit';
import { stateBelow } from '@svc/connector-kit/state/state-below.ts';
import { createTakeFile } from '@svc/connector-kit/ingress/take-file.ts';
import { unavailable } from '@svc/service-kit/service-error.ts';
import { checkConfig, checkServers } from './check-servers.ts';
import { takeMail, type TakeDeps } from './incoming/take-mail.ts';
import type { IncomingMailFile } from './incoming/to-envelope.ts';
import { openMailAccess, type MailAccess } from './login/mail-access.ts';
import { followFolder, type ListedMail } from './mailbox/follow-folder.ts';
import { folderState } from './mailbox/forget-others.ts';
import { openMailbox, type Mailbox } from './mailbox/open-mailbox.ts';
import type { Config } from './meta.ts';
import { createOutgoing } from './outgoing/create-outgoing.ts';
import { openThreads } from './threads.ts';

const mb = 1024 * 1024;
/** How many mails are read at once: a large one takes more than 150 MB, and people send several. */
const maxPreparing = 2;

/** Opens the channel. Errors are shown to the operator, so they say what is wrong and what to do. */
export async function start(ctx: StartContext<Config>, clock: Clock = systemClock): Promise<RunningConnector> {
  const { config, core, state, log } = ctx;
  checkConfig(config);
  const access = await openMailAccess(ctx, clock);
  const smtpFault = await checkServers(ctx, access);
  const threads = await openThreads({ ...ctx, state: stateBelow(state, 'mail/'), now: clock.now, budget: config.thread_budget });
  const outgoing = await createOutgoing({ ...ctx, access, threads, smtpFault, clock });
  const ingress = createIngress({ core, state, log, clock, maxPreparing, openReply: outgoing.openReply });
  const takeFile = createTakeFile<IncomingMailFile>({
    ...ctx,
    maxBytes: config.max_file_mb * mb,
    open: async ({ data }) => bytesOf(data),
  });
  const incoming = followFolders(ctx, access, { ...ctx, threads, ingress, takeFile }, clock);
  return {
    firstSteps: firstSteps(config),
    send: async (message, ended) => {
      threads.ofTarget(message.target);
      return outgoing.send(message, ended);
    },
    async stop() {
      await Promise.all([incoming.ended, ingress.stop(ctx.stopTimeoutMs * 0.8)]);
    },
    health() {
      const problem = incoming.problem() ?? outgoing.problem();
      return problem === null ? { healthy: true } : { healthy: false, detail: problem };
    },
  };
}

function followFolders(ctx: StartContext<Config>, access: MailAccess, deps: TakeDeps, clock: Clock) {
  const { config, state, log, signal } = ctx;
  const problems = new Map<string, string>();
  const followed = config.folders.map((folder) => {
    const mailbox = openMailbox({ ...config, ...access }, folder, !config.mark_seen);
    return followFolder({
      mailbox,
      state: folderState(state, folder),
      take: (mail) => takeMail(deps, { ...mail, folder }, reader(mailbox, mail), marker(mailbox, mail, ctx)),
      log,
      signal,
      clock,
      onProblem(problem) {
        if (problem === null) problems.delete(folder);
        else problems.set(folder, `${folder}: ${problem}`);
      },
    });
  });
  return { problem: (): string | null => problems.values().next().value ?? null, ended: Promise.all(followed) };
}

/** The folder may have been renumbered since this mail was listed; then it is listed again. */
const reader =
  (mailbox: Mailbox, { uid, validity }: ListedMail) =>
  (mostBytes: number) =>
    mailbox.use(async (client) => {
      if (client.mailbox === false || String(client.mailbox.uidValidity) !== validity)
        throw unavailable('The folder has changed.');
      const found = await client.fetchOne(String(uid), { source: { start: 0, maxLength: mostBytes } }, { uid: true });
      if (found === false || found?.source === undefined) throw new Error('The message was deleted before it was read.');
      return found.source;
    });

const marker =
  (mailbox: Mailbox, { uid }: ListedMail, { config, log }: StartContext<Config>) =>
  async (): Promise<void> => {
    if (!config.mark_seen) return;
    try {
      await mailbox.use((client) => client.messageFlagsAdd(String(uid), ['\\Seen'], { uid: true }));
    } catch (error) {
      log('warn', 'a message could not be marked as read', { uid, error: errorText(error) });
    }
  };

async function* bytesOf(data: Buffer): AsyncGenerator<Uint8Array> {
  yield data;
}

const firstSteps = ({ address, authserv_id, received_hops, authserv_place }: Config): string =>
  [
    `From now on, mail to ${address} is answered if ${authserv_id} verifies its sender (Authentication-Results ${authserv_place} Received ${received_hops}).`,
    'Let people in by their address: ./svc person add NAME "Their name" --role known, then ./svc person link NAME email ann@example.org',
    'The log shows which mail was not answered, and why: ./svc connector logs email -f',
  ].join('\n');
