import type { EngineChoice } from '@svc/contract/service.ts';
import { usualWidth, wrap, type Style } from '../terminal.ts';

export type BannerInstance = {
  name: string;
  type: string;
  status: string;
  url: string | null;
  /** Why it does not run. */
  reason: string | null;
  /** The key, only for a new key file: it is shown this once. */
  newKey: string | null;
  keysFile: string | null;
};

/** `fault`: why it cannot answer. */
export type BannerEngine = EngineChoice & { fault: string | null };

export type BannerOwner = { key: string; name: string; shellUser: string | null };

export type BannerFacts = {
  version: string;
  readyMs: number;
  dataDir: string;
  /** `faults`: what does not work in a running process. `notices`: other facts that a person must know first. */
  services: { name: string; url: string; status: string; reason: string | null; faults: string[]; notices?: string[] }[];
  instances: BannerInstance[];
  /** The owner that the first start created; null at later starts. */
  owner: BannerOwner | null;
  /** Null until the core has answered. */
  engine: BannerEngine | null;
  /** The link to set up the login, valid for 15 minutes; null except at the first start. */
  setupUrl: string | null;
};

/** The output of `svc up` once everything has started: addresses, the key, the engine and why, the next step. `width`: columns. */
export function renderBanner(facts: BannerFacts, style: Style, width = usualWidth): string {
  const parts = [
    headline(facts, style),
    [...addresses(facts, style, width), ...login(facts.setupUrl, style, width)],
    ...facts.instances.map((instance) => api(instance, style, width)),
    ...(facts.owner === null
      ? []
      : [
          owner(
            facts.owner,
            facts.instances.some(({ newKey }) => newKey !== null),
            style,
          ),
        ]),
    engine(facts.engine, style, width),
    next(facts.engine, style),
  ];
  return parts.map((lines) => lines.join('\n')).join('\n\n');
}

const row = (label: string, text: string) => `  ${label.padEnd(11)} ${text}`;
/** A long text in as many rows as it needs. */
const rows = (label: string, text: string, width: number, paint: (line: string) => string): string[] =>
  wrap(text, width - 14).map((line, at) => row(at === 0 ? label : '', paint(line)));
const title = (name: string) => name[0]?.toUpperCase() + name.slice(1);

function headline({ version, readyMs, services, instances, dataDir }: BannerFacts, style: Style): string[] {
  const allUp =
    services.every(({ status, faults }) => status === 'running' && faults.length === 0) &&
    instances.every(({ status }) => status === 'running');
  const time = `${(readyMs / 1000).toFixed(1)} s`;
  const words = allUp ? style.green(`runs, ready in ${time}`) : style.yellow(`runs in part, after ${time}`);
  return ['', `${style.bold(`Assistant Gateway ${version}`)} ${words}`, style.dim(`Data: ${dataDir}`)];
}

function addresses({ services }: BannerFacts, style: Style, width: number): string[] {
  return services.flatMap(({ name, url, status, reason, faults, notices = [] }) => [
    ...(status === 'running' ? [row(title(name), url)] : rows(title(name), whyNot(status, reason), width, style.red)),
    ...faults.flatMap((fault) => rows('', fault, width, style.red)),
    ...notices.flatMap((notice) => rows('', notice, width, style.yellow)),
  ]);
}

/** Not shortened, so that the terminal can open it. */
const login = (url: string | null, style: Style, width: number): string[] =>
  url === null
    ? []
    : [
        row('Set up', style.bold(url)),
        ...rows('', 'Sign-in link; works once, for 15 minutes. New one: ./svc auth setup', width, style.dim),
      ];

/** Why an instance is not running, as far as known. */
const whyNot = (status: string, reason: string | null): string =>
  reason === null ? (status === 'starting' ? 'is starting' : `${status}: the reason is unknown`) : `${status}: ${reason}`;

function api({ name, type, status, url, reason, newKey, keysFile }: BannerInstance, style: Style, width: number): string[] {
  const label = type === 'compat' ? 'API' : name;
  if (status === 'waiting') return rows(label, reason ?? status, width, style.yellow);
  if (status !== 'running') return rows(label, whyNot(status, reason), width, style.red);
  if (type !== 'compat') return [row(label, url ?? status)];
  const lines = [row(label, `${url}/v1  ${style.dim('(base URL for any OpenAI client)')}`)];
  if (newKey !== null)
    lines.push(
      row('API key', `${style.bold(newKey)}  ${style.dim('shown this once')}`),
      row('', style.dim(`kept in ${keysFile}`)),
    );
  else if (keysFile !== null) lines.push(row('API key', `in ${keysFile}`));
  return lines;
}

/** Tells the reader under which names they are known. */
function owner({ key, name, shellUser }: BannerOwner, hasKey: boolean, style: Style): string[] {
  const known = [
    ...(shellUser === null ? [] : [`in this shell as ${style.bold(shellUser)}`]),
    ...(hasKey ? ['by the API key above'] : []),
  ];
  return [
    row('Owner', `${style.bold(name)} (person "${key}"), made by this first start; may do everything`),
    row('', `${known.length === 0 ? '' : `Known ${known.join(', and ')}. `}${style.dim('All people: ./svc person')}`),
  ];
}

function engine(choice: BannerEngine | null, style: Style, width: number): string[] {
  if (choice === null) return [row('Engine', style.yellow('still being looked for; ./svc status shows it'))];
  const model = choice.model === null ? '' : ` (${choice.model})`;
  return [
    row('Engine', `${style.bold(choice.id)}${model}`),
    ...rows('', choice.why, width, style.dim),
    ...(choice.fault === null ? [] : rows('', choice.fault, width, style.red)),
  ];
}

function next(choice: EngineChoice | null, style: Style): string[] {
  const lines = [row('Next', style.bold('./svc chat "hello"'))];
  if (choice?.id === 'offline') lines.push(row('', 'Connect a model: docs/engines.md'));
  lines.push(row('', style.dim('./svc status   ./svc doctor   ./svc logs -f   Ctrl-C stops all')), '');
  return lines;
}
