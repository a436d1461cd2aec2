import { CircleHelp } from 'lucide-react';
import { useState } from 'react';
import { t } from '../language/t.ts';
import type { Question } from '../state/turn.ts';

type Props = { questions: readonly Question[]; answer(askId: string, option: string): Promise<string | null> };

/** What the engine asks in the middle of its work, with a button for each answer. */
export function Questions({ questions, answer }: Props) {
  return questions.map((question) => <QuestionView key={question.ask.id} question={question} answer={answer} />);
}

const endings: Record<string, string> = {
  expired: t('Not allowed: nobody answered in time.'),
  ended: t('The turn has ended.'),
  unseen: t('Not allowed: nobody could be asked.'),
  refused: t('Not allowed: the question could not be asked.'),
  failed: t('Not allowed: the question could not be asked.'),
};

function QuestionView({ question: { ask, answer: given }, answer }: { question: Question; answer: Props['answer'] }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const choose = async (option: string) => {
    setChosen(option);
    setFault(null);
    const why = await answer(ask.id, option);
    setFault(why);
    if (why !== null) setChosen(null);
  };
  const label = ask.options.find(({ id }) => id === given?.option)?.label;
  return (
    <section className="question" aria-label={t('The assistant asks')}>
      <p>
        <CircleHelp aria-hidden size={16} /> {ask.text}
      </p>
      {given === null ? (
        <div className="buttons">
          {ask.options.map(({ id, label: name, style }) => (
            <button
              key={id}
              type="button"
              className={style ?? 'plain-button'}
              disabled={chosen !== null}
              onClick={() => void choose(id)}
            >
              {name}
            </button>
          ))}
        </div>
      ) : (
        <p className="muted">
          {given.outcome === 'answered' ? t('Answered: {answer}', { answer: label ?? given.option }) : endings[given.outcome]}
        </p>
      )}
      {fault !== null && <p className="fault">{fault}</p>}
    </section>
  );
}
