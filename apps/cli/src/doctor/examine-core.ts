import { connect, type NetConnectOpts } from 'node:net';
import type { EngineView } from '@svc/contract/engine.ts';
import type { Principal, Role } from '@svc/contract/trust.ts';
import { dataPaths } from '@svc/service-kit/config/data-dir.ts';
import type { CliSettings } from '@svc/service-kit/config/process-settings.ts';
import type { CoreAnswers } from '../status/ask-core.ts';
import type { Status } from '../status/collect-status.ts';
import { quoted } from '../terminal.ts';
import { fine, note, problem, skipped, type Finding } from './finding.ts';

const connectTimeoutMs = 1_000;

/** Whether turns can be answered: the engine, the owner, and the socket for connectors. Empty when the core is not running. */
export async function examineCore(settings: CliSettings, answers: CoreAnswers, asked: Promise<Status>): Promise<Finding[]> {
  const link = examineLink(settings.dataDir);
  const core = (await asked).services.find(({ name }) => name === 'core');
  if (core === undefined || core.version === null) return [];
  const found = await Promise.all([examineEngines(answers), examineOwners(answers), link]);
  return found.flat();
}

async function examineEngines(answers: CoreAnswers): Promise<Finding[]> {
  const answer = await answers.engines;
  if (!answer.ok) return [skipped('engine', `the core ${answer.why}`)];
  const engines = answer.body.engines ?? [];
  return [...engines.map(toFinding), ...(await examineEndpoint(engines.find((engine) => engine.default)))];
}

/** An engine that is not ready is a problem only when it is in use. */
export function toFinding({
  id,
  installed,
  version,
  ready,
  reason,
  notice,
  install,
  key_present,
  connection,
  default: isDefault,
}: EngineView): Finding {
  const text = `${id}${version === null ? '' : ` ${version}`}${isDefault ? ' (in use)' : ''}: ${reason}`;
  if (isDefault && install?.state === 'running') return note('engine', `${text} ${install.step}`);
  if (isDefault && !installed) return problem('engine', text, `./svc engine install ${id}`);
  if (isDefault && !ready) {
    const isKeyMissing = connection === 'api_key' && !key_present;
    return problem('engine', text, isKeyMissing ? `./svc engine key ${id}` : `./svc engine login ${id}`);
  }
  if (isDefault && notice != null) return problem('engine', `${text} ${notice}`, `./svc engine test ${id}`);
  if (ready) return fine('engine', text);
  return installed ? note('engine', text) : skipped('engine', text);
}

/** The model server of the engine in use: an engine with valid settings cannot answer without it. */
export async function examineEndpoint(engine: Pick<EngineView, 'id' | 'ready' | 'base_url'> | undefined): Promise<Finding[]> {
  if (engine?.ready !== true || engine.base_url === null || !URL.canParse(engine.base_url)) return [];
  const { hostname, port, protocol } = new URL(engine.base_url);
  // For remote servers a proxy may be in between, which only the engine knows.
  if (!/^(127\.|localhost$|\[::1\]$)/.test(hostname)) return [];
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
  const fault = await connectFault(address);
  if (fault === null) return [];
  const text = `${engine.id} (in use): nothing answers at ${engine.base_url} (${fault})`;
  return [problem('engine', text, `./svc engine base-url ${engine.id} ${quoted(engine.base_url)}`)];
}

/** Without an enabled owner, `svc chat` and every other channel is refused. */
async function examineOwners(answers: CoreAnswers): Promise<Finding[]> {
  const [people, roles] = await Promise.all([answers.people, answers.roles]);
  if (!people.ok || !roles.ok) return [skipped('people', 'the core does not say who the owner is')];
  return judgeOwners(people.body.principals ?? [], roles.body.roles ?? []);
}

/** The people with the highest tier, and whether they are enabled. */
export function judgeOwners(principals: readonly Principal[], roles: readonly Role[]): Finding[] {
  const ownerRoles = new Set(roles.filter(({ tier }) => tier === 'SACRED').map(({ id }) => id));
  const owners = principals.filter(({ grants }) => grants.some(({ role_id }) => ownerRoles.has(role_id)));
  const active = owners.filter(({ status }) => status === 'active');
  const tell = active.length === 0 ? problem : note;
  const disabled = owners
    .filter(({ status }) => status === 'disabled')
    .map(({ key }) =>
      tell('people', `the owner "${key}" is disabled: what they write is refused`, `./svc person enable ${quoted(key)}`),
    );
  if (owners.length === 0)
    return [problem('people', 'no person is owner, so no one may do everything here', './svc person add owner --role owner')];
  const nameless = active.filter(({ identifiers }) => identifiers.length === 0);
  const unreachable =
    active.length > 0 && nameless.length === active.length
      ? [
          problem(
            'people',
            'no owner is known on any channel',
            `./svc person link ${quoted(active[0]?.key ?? 'owner')} shell "$(id -un)"`,
          ),
        ]
      : [];
  const good =
    active.length === 0 || unreachable.length > 0 ? [] : [fine('people', `owner: ${active.map(({ key }) => key).join(', ')}`)];
  return [...disabled, ...unreachable, ...good];
}

/** Connectors use this socket alone; without it they run, but no message arrives. */
async function examineLink(dataDir: string): Promise<Finding[]> {
  const file = dataPaths(dataDir).coreSocket;
  const fault = await connectFault({ path: file });
  if (fault === null) return [fine('link', 'connectors reach the core')];
  return [problem('link', `connectors cannot reach the core over ${file} (${fault})`, './svc logs core')];
}

const connectFault = (address: NetConnectOpts) =>
  new Promise<string | null>((resolve) => {
    const socket = connect(address);
    const end = (fault: string | null) => {
      socket.destroy();
      resolve(fault);
    };
    socket.setTimeout(connectTimeoutMs, () => end('no answer'));
    socket.once('connect', () => end(null)).once('error', ({ code, message }: NodeJS.ErrnoException) => end(code ?? message));
  });
