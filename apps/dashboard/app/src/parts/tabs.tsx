import { type KeyboardEvent, useRef } from 'react';

type Props<Name extends string> = { label: string; tabs: readonly Name[]; chosen: Name; onChoose(name: Name): void };

const title = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);

/** Views of one thing, of which one is shown: arrows go from one to the next. */
export function Tabs<Name extends string>({ label, tabs, chosen, onChoose }: Props<Name>) {
  const list = useRef<HTMLDivElement>(null);
  const onKey = ({ key }: KeyboardEvent) => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    const next = tabs[(tabs.indexOf(chosen) + step + tabs.length) % tabs.length];
    if (step === 0 || next === undefined) return;
    onChoose(next);
    list.current?.querySelectorAll('button')[tabs.indexOf(next)]?.focus();
  };
  return (
    <div className="view-tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKey}>
      {tabs.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === chosen}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => onChoose(name)}
        >
          {title(name)}
        </button>
      ))}
    </div>
  );
}
