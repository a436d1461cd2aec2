import { duration, nextTry } from './duration.ts';
import { usualWidth, wrap, type Style } from '../terminal.ts';
import type { CoreLoad, InstanceStatus, ServiceStatus, Status } from './collect-status.ts';

const indent = ' '.repeat(14);

/** The status for a person. `now` is epoch ms; `width` the columns there are. */
export function renderStatus(status: Status, now: number, style: Style, width = usualWidth): string {
  const { supervisor, services, instances } = status;
  const lines = [
    supervisor === null
      ? `${style.yellow('Not running here.')} ./svc up starts it.`
      : `${style.bold('Assistant Gateway')} runs as process ${supervisor.pid} since ${duration(now - supervisor.started_at)}`,
    ...(supervisor?.faults ?? []).flatMap((fault) => below(fault, width, style.red)),
    '',
    ...services.flatMap((service) => serviceLines(service, now, style, width)),
  ];
  if (instances.length > 0) lines.push('', ...instances.flatMap((instance) => instanceLines(instance, now, style, width)));
  const work = [...engineLines(status, style, width), ...loadLines(status, style)];
  return [...lines, ...(work.length === 0 ? [] : ['', ...work])].join('\n');
}

const mark = (healthy: boolean, style: Style) => (healthy ? style.green('●') : style.red('●'));

function serviceLines(
  {
    name,
    url,
    pid,
    healthy,
    version,
    sha,
    restarts,
    failures,
    next_start_at,
    last_lines,
    started_at,
    reason,
    notices,
  }: ServiceStatus,
  now: number,
  style: Style,
  width: number,
): string[] {
  const facts = [
    pid === null ? null : `pid ${pid}`,
    version === null ? null : `${version} ${sha === null || sha === 'unknown' ? '' : sha.slice(0, 8)}`.trim(),
    started_at === null ? null : `up ${duration(now - started_at)}`,
    restarts === 0 ? null : `${restarts} restart${restarts === 1 ? '' : 's'}`,
  ].filter((fact) => fact !== null);
  const [first = '', ...others] = wrap(facts.join(', '), width - 40).map(style.dim);
  const lines = [
    `${mark(healthy, style)} ${name.padEnd(12)}${url.padEnd(26)}${first}`,
    ...others.map((text) => ' '.repeat(40) + text),
  ];
  return [
    ...lines.map((line) => line.trimEnd()),
    ...below(reason, width, style.red),
    ...below(nextTry(next_start_at, failures, now), width, style.yellow),
    ...(healthy ? [] : last_lines.flatMap((line) => below(line, width, style.dim))),
    ...notices.flatMap((notice) => below(notice, width, style.yellow)),
  ];
}

const instanceLines = (
  { id, name, type, status, url, healthy, reason, next_start_at }: InstanceStatus,
  now: number,
  style: Style,
  width: number,
): string[] => [
  `${status === 'waiting' ? style.yellow('●') : mark(healthy, style)} ${type.padEnd(12)}${(url ?? '').padEnd(26)}${style.dim(name === type ? status : `${name}, ${status}`)}`.trimEnd(),
  ...below(reason, width, status === 'waiting' ? style.yellow : style.red),
  ...below(nextTry(next_start_at, 0, now), width, style.yellow),
  ...below(status === 'failed' ? `./svc connector restart ${id} starts it again` : null, width, style.yellow),
];

const engineLines = ({ engine }: Status, style: Style, width: number): string[] =>
  engine === null
    ? []
    : [
        `  engine      ${style.bold(engine.id)}${engine.model === null ? '' : ` (${engine.model})`}`,
        ...below(engine.why, width, style.dim),
      ];

/** Where deliveries have failed the core has a notice, which names those that wait too. */
function loadLines({ turns, deliveries }: CoreLoad, style: Style): string[] {
  const lines: string[] = [];
  if (turns !== null) lines.push(`  turns       ${turns.running} running, ${turns.waiting} waiting`);
  if (deliveries !== null && deliveries.pending > 0 && deliveries.failed === 0) {
    const what =
      deliveries.pending === 1 ? '1 reply waits for its channel' : `${deliveries.pending} replies wait for their channel`;
    lines.push(`  deliveries  ${style.yellow(`${what}: ./svc delivery`)}`);
  }
  return lines;
}

/** Words about the line above. */
const below = (text: string | null, width: number, paint: (line: string) => string): string[] =>
  text === null ? [] : wrap(text, width - indent.length).map((line) => indent + paint(line));
