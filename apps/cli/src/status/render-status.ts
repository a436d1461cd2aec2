import { counted, duration } from '@svc/service-kit/words.ts';
import { nextTry } from './duration.ts';
import { usualWidth, wrap, type Style } from '../terminal.ts';
import { renderFinding, type Finding } from '../doctor/finding.ts';
import { notThere } from './ask.ts';
import type { CoreLoad, InstanceStatus, ServiceStatus, Status } from './collect-status.ts';

const indent = ' '.repeat(14);

/** `problems`: those besides the processes and instances. */
type Shown = Status & { problems?: readonly Finding[] };

/** The status for a person. `now` is epoch ms; `width` is the number of columns. */
export function renderStatus(status: Shown, now: number, style: Style, width = usualWidth): string {
  const { supervisor, services, instances, problems = [] } = status;
  const lines = [
    supervisor === null
      ? `${style.yellow('Not running here.')} ./svc up starts it.`
      : `${style.bold('Assistant Gateway')} has run for ${duration(now - supervisor.started_at)} as process ${supervisor.pid}`,
    ...(supervisor?.faults ?? []).flatMap((fault) => below(fault, width, style.red)),
    '',
    ...services.flatMap((service) => serviceLines(service, now, style, width)),
  ];
  if (instances.length > 0) lines.push('', ...instances.flatMap((instance) => instanceLines(instance, now, style, width)));
  const work = [...engineLines(status, style, width), ...loadLines(status, style)];
  const wrong = problems.map((finding) => renderFinding(finding, style, width));
  return [...lines, ...(work.length === 0 ? [] : ['', ...work]), ...(wrong.length === 0 ? [] : ['', ...wrong])].join('\n');
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
    fix,
    notices,
    status,
  }: ServiceStatus,
  now: number,
  style: Style,
  width: number,
): string[] {
  // When nothing runs, the line above already says how to start the service.
  const isDown = !healthy && fix !== null && !(status === 'away' && reason === notThere);
  const facts = [
    pid === null ? null : `pid ${pid}`,
    version === null ? null : `${version} ${sha === null || sha === 'unknown' ? '' : sha.slice(0, 8)}`.trim(),
    started_at === null ? null : `up ${duration(now - started_at)}`,
    restarts === 0 ? null : counted(restarts, 'restart'),
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
    ...(isDown ? fixLine(fix, style) : []),
    ...notices.flatMap((notice) => below(notice, width, style.yellow)),
  ];
}

const instanceLines = (
  { name, type, status, url, healthy, reason, next_start_at, fix }: InstanceStatus,
  now: number,
  style: Style,
  width: number,
): string[] => [
  `${status === 'waiting' ? style.yellow('●') : mark(healthy, style)} ${type.padEnd(12)}${(url ?? '').padEnd(26)}${style.dim(name === type ? status : `${name}, ${status}`)}`.trimEnd(),
  ...below(reason, width, status === 'waiting' ? style.yellow : style.red),
  ...below(nextTry(next_start_at, 0, now), width, style.yellow),
  // Some reasons name the command themselves.
  ...(fix !== null && reason?.includes(fix) === true ? [] : fixLine(fix, style)),
];

const engineLines = ({ engine }: Status, style: Style, width: number): string[] =>
  engine === null
    ? []
    : [
        `  engine      ${style.bold(engine.id)}${engine.model === null ? '' : ` (${engine.model})`}`,
        ...below(engine.why, width, style.dim),
      ];

/** After failed deliveries the core has a notice, which includes the pending ones. */
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

/** On one line, so that it can be copied into a shell. */
const fixLine = (fix: string | null, style: Style): string[] => (fix === null ? [] : [`${indent}${style.bold('fix:')} ${fix}`]);

/** A note about the line above. */
const below = (text: string | null, width: number, paint: (line: string) => string): string[] =>
  text === null ? [] : wrap(text, width - indent.length).map((line) => indent + paint(line));
