import type { SecretUser } from '@svc/contract/secret.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { EngineKey } from '../engine/open-engines.ts';
import type { ManagerReader } from '../instance/manager-reader.ts';
import type { ToolServers } from '../tool-server/tool-servers.ts';

/** `isNeeded`: the user does not work without it, unless one of `others` exists. */
export type SecretUse = { secret: string; user: SecretUser; isNeeded: boolean; others: readonly string[] };

type Deps = {
  manager: ManagerReader;
  toolServers: Pick<ToolServers, 'secretUses'>;
  engineKeys: () => EngineKey[];
  settings: Pick<CoreSettings, 'tts' | 'stt' | 'moderation' | 'moderationKeySecret' | 'checkoutSecrets'>;
};

/** Who uses which secret, anywhere in the service. `fault`: why connectors are missing. */
export type ReadSecretUses = () => Promise<{ uses: SecretUse[]; fault: string | null }>;

export const createSecretUses =
  (deps: Deps): ReadSecretUses =>
  async () => {
    const own = [...ofEngines(deps), ...ofToolServers(deps), ...ofSettings(deps)];
    try {
      return { uses: [...(await ofConnectors(deps)), ...own], fault: null };
    } catch (error) {
      return {
        uses: own,
        fault: `It is unknown which connectors use secrets, because the manager could not list them: ${errorText(error)}`,
      };
    }
  };

async function ofConnectors({ manager }: Deps): Promise<SecretUse[]> {
  const [types, instances] = await Promise.all([manager.types(), manager.instances()]);
  const keysOf = new Map(types.map(({ type, credentialKeys }) => [type, credentialKeys]));
  return instances.flatMap(({ id, type, name, enabled, config }) =>
    (keysOf.get(type) ?? [])
      .map((key) => config[key])
      .filter((secret): secret is string => typeof secret === 'string' && secret !== '')
      .map((secret) => ({ secret, user: { kind: 'connector', id, name }, isNeeded: enabled, others: [] })),
  );
}

const ofEngines = ({ engineKeys }: Deps): SecretUse[] =>
  engineKeys().flatMap(({ id, names, isNeeded }) =>
    // The first name is the service's own; the vendor's is used when it is missing.
    names.map((secret, index) => ({
      secret,
      user: { kind: 'engine', id, name: id },
      isNeeded: isNeeded && index === 0,
      others: names,
    })),
  );

const ofToolServers = ({ toolServers }: Deps): SecretUse[] =>
  toolServers
    .secretUses()
    .flatMap(({ name, secrets }) =>
      secrets.map((secret) => ({ secret, user: { kind: 'tool_server', id: name, name }, isNeeded: true, others: [] })),
    );

function ofSettings({ settings }: Deps): SecretUse[] {
  const { tts, stt, moderation, moderationKeySecret, checkoutSecrets } = settings;
  const named: [secret: string | null, setting: string][] = [
    [tts.keySecret, 'SVC_TTS_KEY_SECRET'],
    [stt.keySecret, 'SVC_STT_KEY_SECRET'],
    [moderation === 'openai' ? moderationKeySecret : null, 'SVC_MODERATION_KEY_SECRET'],
    ...checkoutSecrets.map(({ name }): [string, string] => [name, 'SVC_CHECKOUT_SECRETS']),
  ];
  return named.flatMap(([secret, id]) =>
    secret === null ? [] : [{ secret, user: { kind: 'setting', id, name: id }, isNeeded: true, others: [] }],
  );
}
