import type { TerminalWords } from '../terminal/terminal-words.ts';
import type { Clock } from '@svc/service-kit/clock.ts';
import type { DataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { Ids } from '@svc/service-kit/ids.ts';
import type { Intake } from '@svc/service-kit/intake/intake.ts';
import type { Log } from '@svc/service-kit/log.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import type { Database } from '@svc/store/database.ts';
import type { AskStore } from '../ask/ask-store.ts';
import type { OpenAsks } from '../ask/open-asks.ts';
import type { Announcements } from '../announcement/announcements.ts';
import type { Checkouts } from '../checkout/checkouts.ts';
import type { DeliveryStore } from '../delivery/delivery-store.ts';
import type { Outbox } from '../delivery/outbox.ts';
import type { PendingAcks } from '../delivery/pending-acks.ts';
import type { EngineRegistry } from '../engine/engine-registry.ts';
import type { EngineFallback } from '../engine/fallback.ts';
import type { Events } from '../events.ts';
import type { Folders } from '../folder/folders.ts';
import type { InstanceRulesReader } from '../instance/instance-rules.ts';
import type { Moderation } from '../moderation/moderation.ts';
import type { Persona } from '../persona/persona.ts';
import type { Pricing } from '../pricing/pricing.ts';
import type { Claims } from '../session/claims.ts';
import type { ConversationFiles } from '../session/conversation-files.ts';
import type { ObservedStore } from '../session/observed-store.ts';
import type { EndedEngineSessions } from '../session/ended-engine-sessions.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Workspaces } from '../session/workspaces.ts';
import type { Spend } from '../spend/spend.ts';
import type { Titles } from '../session/session-titles.ts';
import type { ToolServers } from '../tool-server/tool-servers.ts';
import type { Pending } from '../trust/pending.ts';
import type { RedeemInvitation } from '../trust/redeem-invitation.ts';
import type { TrustService } from '../trust/trust-service.ts';
import type { SessionWatches } from '../watch/session-watches.ts';
import type { BotTurns } from './bot-turns.ts';
import type { LiveTurns } from './live-turns.ts';
import type { MessageBatches } from './message-batches.ts';
import type { TurnActions } from './turn-actions.ts';
import type { TurnJournal } from './turn-journal.ts';
import type { TurnQueue } from './turn-queue.ts';

/** Exactly what turns need of the rest of the core. Each step takes its part by `Pick`. */
export type TurnDeps = {
  settings: Pick<
    CoreSettings,
    | 'maxConcurrentTurns'
    | 'maxQueuedTurns'
    | 'maxBotTurns'
    | 'turnIdleMs'
    | 'turnMaxMs'
    | 'askTimeoutMs'
    | 'maxReplyChars'
    | 'maxToolChars'
    | 'maxTurnChars'
    | 'stopTimeoutMs'
  >;
  paths: Pick<DataPaths, 'uploads'>;
  clock: Clock;
  ids: Ids;
  log: Log;
  db: Pick<Database, 'mark' | 'flush'>;
  intake: Intake;
  knownSecrets: Pick<KnownSecrets, 'redactor'>;
  events: Events;
  trust: Pick<TrustService, 'strangerOf' | 'resolve' | 'resolvePrincipal' | 'onChange'>;
  pending: Pick<Pending, 'note'>;
  redeemInvitation: RedeemInvitation;
  instanceRules: Pick<InstanceRulesReader, 'of'>;
  persona: Pick<Persona, 'text'>;
  sessions: Pick<SessionStore, 'read' | 'open' | 'announceCursor' | 'keepEngineSession' | 'addTurn' | 'forgetSaid' | 'delete'>;
  claims: Pick<Claims, 'isClaimed' | 'takePauseNotice'>;
  terminalWords: Pick<TerminalWords, 'say' | 'earlier'>;
  observed: ObservedStore;
  announcements: Pick<Announcements, 'newestId' | 'after'>;
  conversationFiles: Pick<ConversationFiles, 'stage' | 'folderOf' | 'forget'>;
  workspaces: Pick<Workspaces, 'forget'>;
  folders: Pick<Folders, 'forTurn' | 'hasOwn'>;
  checkouts: Pick<Checkouts, 'forTurn' | 'forget'>;
  moderation: Pick<Moderation, 'check'>;
  pricing: Pick<Pricing, 'charge'>;
  spend: Pick<Spend, 'check' | 'mayPay' | 'add' | 'addSideCall'>;
  engines: Pick<EngineRegistry, 'active' | 'open'>;
  engineFallback: EngineFallback;
  toolServers: Pick<ToolServers, 'serversFor'>;
  journal: TurnJournal;
  deliveries: Pick<DeliveryStore, 'isFor' | 'ofTurn'>;
  outbox: Pick<Outbox, 'push' | 'pushAll' | 'firstTry' | 'forget'>;
  asks: OpenAsks;
  askStore: AskStore;
  titles: Pick<Titles, 'opened' | 'answered' | 'forget'>;
  watches: SessionWatches;
  endedEngineSessions: Pick<EndedEngineSessions, 'removeSoon'>;
};

/** What a pipeline keeps in memory: waiting and running turns, and replies whose delivery is not confirmed yet. */
export type TurnState = {
  turnQueue: TurnQueue;
  liveTurns: LiveTurns;
  batches: MessageBatches;
  botTurns: BotTurns;
  turnActions: TurnActions;
  pendingAcks: PendingAcks;
};

/** Everything that a turn may need. */
export type PipelineParts = TurnDeps & TurnState;
