import { Brain, Check, ChevronRight, LoaderCircle, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { shorten } from '../language/shorten.ts';
import { plural, t } from '../language/t.ts';
import type { Step } from '../state/turn.ts';

/** What is shown of an input or output before "Show all" is asked for. */
const maxShown = 20_000;

const seconds = (ms: number): string =>
  new Intl.NumberFormat(undefined, { maximumFractionDigits: ms < 9950 ? 1 : 0 }).format(ms / 1000);

/** The tools of a reply on one line: how many, and how long; each of them below when it is opened. */
export function Steps({ steps }: { steps: readonly Step[] }) {
  if (steps.length === 0) return null;
  const current = steps.findLast(({ ok }) => ok === null);
  const failed = steps.filter(({ ok }) => ok === false).length;
  const summary = current === undefined ? workOf(steps) : `${current.name}${targetOf(current.input)}`;
  return (
    <Fold
      icon={current === undefined ? <Check aria-hidden size={14} /> : <LoaderCircle aria-hidden size={14} className="turning" />}
      summary={failed > 0 && current === undefined ? t('{steps}, {count} failed', { steps: summary, count: failed }) : summary}
    >
      <ol className="steps">
        {steps.map((step) => (
          <li key={step.id}>
            <StepView step={step} />
          </li>
        ))}
      </ol>
    </Fold>
  );
}

function workOf(steps: readonly Step[]): string {
  const begun = steps.find((step) => step.begun !== null)?.begun;
  const ended = steps.findLast((step) => step.ended !== null)?.ended;
  const count = plural(steps.length, '{n} step', '{n} steps');
  return begun == null || ended == null ? count : withSeconds(count, ended - begun);
}

const withSeconds = (what: string, ms: number): string => t('{what}, {seconds} s', { what, seconds: seconds(Math.max(ms, 0)) });

/** What a tool works on, as far as one word of its input says. */
function targetOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  const found = Object.values(input).find((value) => typeof value === 'string' && value !== '');
  if (typeof found !== 'string') return '';
  return ` ${shorten(found.split('\n', 1)[0] ?? '', 60)}`;
}

const stateWords = { running: t('running'), done: t('done'), failed: t('failed') } as const;

function StepView({ step: { name, input, ok, output, begun, ended } }: { step: Step }) {
  const state = ok === null ? 'running' : ok ? 'done' : 'failed';
  const word = stateWords[state];
  const icon =
    ok === null ? (
      <LoaderCircle aria-hidden size={14} className="turning" />
    ) : ok ? (
      <Check aria-hidden size={14} />
    ) : (
      <TriangleAlert aria-hidden size={14} />
    );
  return (
    <Fold
      icon={<span className={`status ${state}`}>{icon}</span>}
      summary={
        <>
          <b>{name}</b>
          <span className="target">{targetOf(input)}</span>{' '}
          <span className={`status ${state}`}>{begun !== null && ended !== null ? withSeconds(word, ended - begun) : word}</span>
        </>
      }
    >
      {input !== null && input !== undefined && <PlainText title={t('Input')} text={textOf(input)} />}
      {output !== '' && <PlainText title={t('Output')} text={output} />}
    </Fold>
  );
}

const textOf = (input: unknown): string => (typeof input === 'string' ? input : JSON.stringify(input, null, 2));

/** What comes from a tool is text, whatever it says that it is. */
function PlainText({ title, text }: { title: string; text: string }) {
  const [all, setAll] = useState(false);
  return (
    <div className="plain-text">
      <span className="muted">{title}</span>
      <pre tabIndex={0} aria-label={title}>
        {all ? text : text.slice(0, maxShown)}
      </pre>
      {text.length > maxShown && !all && (
        <button type="button" className="quiet" onClick={() => setAll(true)}>
          {t('Show all {size} KB', { size: Math.ceil(text.length / 1000) })}
        </button>
      )}
    </div>
  );
}

/** One line that opens. Its contents are made when it is opened first. */
function Fold({ icon, summary, children }: { icon: ReactNode; summary: ReactNode; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="fold">
      <button type="button" className="fold-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight aria-hidden size={14} className="chevron" />
        {icon}
        <span className="fold-summary">{summary}</span>
      </button>
      {open && <div className="fold-inside">{children}</div>}
    </div>
  );
}

/** What the engine thought, folded. */
export function Thinking({ text, isLive }: { text: string; isLive: boolean }) {
  if (text === '') return null;
  return (
    <Fold icon={<Brain aria-hidden size={14} />} summary={isLive ? t('Thinking') : t('Thoughts')}>
      <p className="thoughts">{text}</p>
    </Fold>
  );
}
