import { realpath } from 'node:fs/promises';
import type { FolderList, FolderScope, TrustedFolder, WorkingFolder } from '@svc/contract/folder.ts';
import type { Identity } from '@svc/contract/trust.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { badRequest, ServiceError } from '@svc/service-kit/service-error.ts';
import type { InstanceRulesReader } from '../instance/instance-rules.ts';
import type { Workspaces } from '../session/workspaces.ts';
import { tidyPath, type FolderFinding } from './check-folder.ts';
import type { FolderLooks } from './folder-looks.ts';
import type { FolderStore } from './folder-store.ts';

/** The origin of a turn, as far as a folder can be set for it. */
export type Origin = { conversationKey: string; instanceId: string | null; channel: string };
export type TurnFolder = { path: string; isTrusted: boolean };
type Rights = Pick<Identity, 'tool_policy' | 'trust_tier'>;

/** The folders that turns work in. Only the operator's routes set or trust one; connectors and senders cannot. */
export type Folders = {
  list(): Promise<FolderList>;
  trusted(): TrustedFolder[];
  /** @throws ServiceError `bad_request` that says what is wrong with the folder */
  set(actor: string, folder: Omit<WorkingFolder, 'updated_at'>): Promise<WorkingFolder>;
  clear: FolderStore['clear'];
  /** Whether the conversation has its own folder. */
  hasOwn(conversationKey: string): boolean;
  /** The folder set for the origin of messages: for the conversation, else for its instance, else for its channel. */
  setFor(origin: Origin): WorkingFolder | null;
  /** @throws ServiceError `unprocessable` when the folder that is set cannot be used */
  forTurn(origin: Origin, rights: Rights): Promise<TurnFolder>;
  trust(actor: string, path: string): Promise<TrustedFolder>;
  /** False when it is not trusted. @throws ServiceError `bad_request` when the path contains links that cannot be resolved */
  untrust(actor: string, path: string): Promise<boolean>;
  notices(): string[];
};

type Deps = {
  store: FolderStore;
  looks: FolderLooks;
  workspaces: Pick<Workspaces, 'folderFor'>;
  /** The settings of instances. */
  instanceRules?: Pick<InstanceRulesReader, 'of'>;
  log: Pick<Log, 'warn'>;
};

export function createFolders({ store, looks, workspaces, instanceRules, log }: Deps): Folders {
  const ofConversation = ({ conversationKey }: Pick<Origin, 'conversationKey'>) =>
    store.folderOf('conversation', conversationKey);
  /** A folder set by command takes precedence over the connector's own setting. */
  const ofInstance = (id: string): WorkingFolder | null => {
    const cwd = instanceRules?.of(id).cwd;
    const own = { scope: 'instance', name: id, path: tidyPath(cwd ?? ''), for: 'full', updated_at: 0 } as const;
    return store.folderOf('instance', id) ?? (cwd === undefined ? null : own);
  };
  const setFor = (origin: Origin) =>
    ofConversation(origin) ??
    (origin.instanceId === null ? null : ofInstance(origin.instanceId)) ??
    store.folderOf('channel', origin.channel);

  /** Folders apply to people with full rights; only a conversation's own folder can be opened to readers. */
  const folderFor = (origin: Origin, { tool_policy, trust_tier }: Rights): WorkingFolder | null => {
    if (tool_policy === 'full') return setFor(origin) ?? store.folderOf('tier', trust_tier);
    const own = ofConversation(origin);
    return tool_policy === 'read' && own?.for === 'read' ? own : null;
  };

  /** Falling back to another folder would be worse than an error: the request is meant for that folder. */
  const usable = async (folder: WorkingFolder): Promise<string> => {
    const finding = await looks.look(folder.path);
    if (finding.ok) return finding.path;
    log.warn(
      { folder: folder.path, scope: folder.scope, name: folder.name, why: finding.why },
      'a working folder cannot be used',
    );
    throw new ServiceError(
      'unprocessable',
      `The working folder of ${owners[folder.scope]} cannot be used: ${finding.why}. Nothing was done. The operator can change it: ./svc folder`,
    );
  };

  /** The service's own folder may be behind links. */
  const usualFolder = async ({ conversationKey }: Origin, { tool_policy }: Rights): Promise<TurnFolder> => {
    const path = workspaces.folderFor(conversationKey, tool_policy);
    const mayBeTrusted = tool_policy === 'full' && store.hasTrusted();
    return { path, isTrusted: mayBeTrusted && store.isTrusted(await realpath(path)) };
  };

  return {
    setFor,
    hasOwn: (conversationKey) => ofConversation({ conversationKey }) !== null,
    clear: store.clear,
    trusted: store.trusted,
    async list() {
      const folders = await Promise.all(
        store.folders().map(async (folder) => ({ ...folder, fault: faultOf(await looks.look(folder.path)) })),
      );
      return { folders, trusted: store.trusted() };
    },
    async set(actor, folder) {
      const path = tidyPath(folder.path);
      const finding = await looks.look(path);
      if (!finding.ok) throw refused(finding.why);
      return store.set(actor, { ...folder, path });
    },
    async forTurn(origin, rights) {
      const folder = folderFor(origin, rights);
      if (folder === null) return usualFolder(origin, rights);
      const path = await usable(folder);
      return { path, isTrusted: rights.tool_policy === 'full' && store.isTrusted(path) };
    },
    async trust(actor, path) {
      const finding = await looks.lookForTrust(tidyPath(path));
      if (!finding.ok) throw refused(finding.why);
      return store.trust(actor, finding.path);
    },
    async untrust(actor, path) {
      if (await store.untrust(actor, tidyPath(path))) return true; // as it is listed; the folder may be gone
      const real = await looks.resolve(path);
      if (!real.ok) throw badRequest(`This path cannot be resolved: ${real.why}. Name the folder as ./svc folder lists it.`);
      return store.untrust(actor, real.path);
    },
    notices: () =>
      store.folders().flatMap(({ scope, name, path }) => {
        const why = looks.lastFault(path);
        return why === null ? [] : [`the working folder ${path} of the ${scope} ${name} cannot be used: ${why} (./svc folder)`];
      }),
  };
}

const owners: Readonly<Record<FolderScope, string>> = {
  conversation: 'this conversation',
  instance: 'this connector',
  channel: 'this channel',
  tier: 'your trust tier',
};

const faultOf = (finding: FolderFinding): string | null => (finding.ok ? null : finding.why);

const refused = (why: string) => badRequest(`This folder cannot be used: ${why}.`);
