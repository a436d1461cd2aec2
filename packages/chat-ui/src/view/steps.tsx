import { Brain, Check, ChevronRight, LoaderCircle, TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
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
  const summary =
    current === undefined ? `${countOf(steps.length)}${tookOf(steps)}` : `${current.name}${targetOf(current.input)}`;
  return (
    <Fold
      icon={current === undefined ? <Check aria-hidden size={14} /> : <LoaderCircle aria-hidden size={14} className="turning" />}
      summary={failed > 0 && current === undefined ? `${summary}, ${failed} failed` : summary}
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

const countOf = (count: number): string => (count === 1 ? '1 step' : `${count} steps`);

function tookOf(steps: readonly Step[]): string {
  const begun = steps.find((step) => step.begun !== null)?.begun;
  const ended = steps.findLast((step) => step.ended !== null)?.ended;
  return begun == null || ended == null ? '' : `, ${seconds(Math.max(ended - begun, 0))} s`;
}

/** What a tool works on, as far as one word of its input says. */
function targetOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  const found = Object.values(input).find((value) => typeof value === 'string' && value !== '');
  if (typeof found !== 'string') return '';
  const line = found.split('\n', 1)[0] ?? '';
  return ` ${line.length > 60 ? `${line.slice(0, 59)}…` : line}`;
}

function StepView({ step: { name, input, ok, output, begun, ended } }: { step: Step }) {
  const word = ok === null ? 'running' : ok ? 'done' : 'failed';
  const took = begun !== null && ended !== null ? `, ${seconds(Math.max(ended - begun, 0))} s` : '';
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
      icon={<span className={`status ${word}`}>{icon}</span>}
      summary={
        <>
          <b>{name}</b>
          <span className="target">{targetOf(input)}</span> <span className={`status ${word}`}>{word + took}</span>
        </>
      }
    >
      {input !== null && input !== undefined && <PlainText title="Input" text={textOf(input)} />}
      {output !== '' && <PlainText title="Output" text={output} />}
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
          Show all {Math.ceil(text.length / 1000)} KB
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
    <Fold icon={<Brain aria-hidden size={14} />} summary={isLive ? 'Thinking' : 'Thoughts'}>
      <p className="thoughts">{text}</p>
    </Fold>
  );
}
