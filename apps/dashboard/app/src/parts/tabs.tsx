import { type KeyboardEvent, useRef } from 'react';

type Tab<Name extends string> = { name: Name; title: string };
type Props<Name extends string> = { label: string; tabs: readonly Tab<Name>[]; chosen: Name; onChoose(name: Name): void };

/** Tabs: one of several views is shown, and arrow keys move between them. */
export function Tabs<Name extends string>({ label, tabs, chosen, onChoose }: Props<Name>) {
  const list = useRef<HTMLDivElement>(null);
  const onKey = ({ key }: KeyboardEvent) => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    const at = (tabs.findIndex(({ name }) => name === chosen) + step + tabs.length) % tabs.length;
    const next = tabs[at];
    if (step === 0 || next === undefined) return;
    onChoose(next.name);
    list.current?.querySelectorAll('button')[at]?.focus();
  };
  return (
    <div className="view-tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKey}>
      {tabs.map(({ name, title }) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === chosen}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => onChoose(name)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
