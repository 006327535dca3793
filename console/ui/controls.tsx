// Buttons, fields and choices.
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

type Look = 'primary' | 'quiet' | 'danger';

type ButtonProps = Omit<JSX.HTMLAttributes<HTMLButtonElement>, 'icon' | 'size'> & {
  look?: Look;
  icon?: IconName;
  isSmall?: boolean;
  isBusy?: boolean;
  disabled?: boolean;
  type?: 'button' | 'submit';
  form?: string;
};

/** A button. While it is busy it stays where it is and takes no second click. */
export function Button({
  look,
  icon,
  isSmall,
  isBusy,
  children,
  class: more,
  disabled,
  ...rest
}: ButtonProps) {
  const isBare = children === undefined;
  const classes = classesOf('button', look, isSmall && 'small', isBare && 'icon', more);
  return (
    <button type="button" class={classes} disabled={disabled || isBusy} aria-busy={isBusy} {...rest}>
      {icon && <Icon name={icon} size={isSmall ? 14 : 16} />}
      {children}
    </button>
  );
}

type LinkProps = {
  href: string;
  look?: Look;
  icon?: IconName;
  isSmall?: boolean;
  download?: boolean | string;
} & Pick<JSX.HTMLAttributes<HTMLAnchorElement>, 'children' | 'class' | 'aria-label'> & { target?: string };

/** A link that looks like a button. */
export function ButtonLink({ look, icon, isSmall, children, class: more, ...rest }: LinkProps) {
  const classes = classesOf('button', look, isSmall && 'small', children === undefined && 'icon', more);
  return (
    <a class={classes} {...rest}>
      {icon && <Icon name={icon} size={isSmall ? 14 : 16} />}
      {children}
    </a>
  );
}

interface FormProps {
  class?: string;
  style?: JSX.CSSProperties;
  onSubmit: () => void;
  children: ComponentChildren;
}

/** Fields that are sent together, without leaving the page. */
export function Form({ onSubmit, ...rest }: FormProps) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}

interface FieldProps {
  label: string;
  hint?: ComponentChildren;
  error?: string | null;
  children: (attributes: {
    id: string;
    'aria-describedby'?: string;
    'aria-invalid'?: boolean;
  }) => ComponentChildren;
}

/** A control with its label, its hint, and what is wrong with it. */
export function Field({ label, hint, error, children }: FieldProps) {
  const id = useId();
  const isDescribed = Boolean(hint || error);
  const attributes = {
    id,
    ...(isDescribed && { 'aria-describedby': `${id}-hint` }),
    ...(error && { 'aria-invalid': true }),
  };
  return (
    <div class="field">
      <label class="label" for={id}>
        {label}
      </label>
      {children(attributes)}
      {isDescribed && (
        <span id={`${id}-hint`} class={error ? 'bad' : 'hint'}>
          {error || hint}
        </span>
      )}
    </div>
  );
}

type TextFieldProps = Omit<FieldProps, 'children'> & {
  value: string;
  onValue: (value: string) => void;
  type?: string;
  autoComplete?: string;
  inputMode?: 'numeric' | 'decimal' | 'email';
  placeholder?: string;
  required?: boolean;
  autoFocus?: boolean;
  maxLength?: number;
  min?: string;
};

export function TextField({ label, hint, error, onValue, autoFocus, ...rest }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error ?? null}>
      {(attributes) => (
        <input
          class="input"
          {...attributes}
          {...rest}
          {...(autoFocus && { 'data-autofocus': true })}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}

type MomentFieldProps = Omit<FieldProps, 'children'> & { value: string; onValue: (value: string) => void };

/** A date with a time, in the time zone of the browser and without naming it; empty for none. */
export function MomentField({ value, onValue, ...field }: MomentFieldProps) {
  return (
    <Field {...field}>
      {(attributes) => (
        <input
          class="input"
          type="datetime-local"
          {...attributes}
          value={value}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      )}
    </Field>
  );
}

export interface Option<Value extends string> {
  value: Value;
  label: ComponentChildren;
  /** Why it cannot be chosen now. */
  refusal?: string | undefined;
}

interface ChoicesProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly Option<Value>[];
  onValue: (value: Value) => void;
  isHiddenLabel?: boolean;
  isSegmented?: boolean;
}

/** One of a few, all of them to be seen. What does not go with the rest says why. */
export function Choices<Value extends string>(props: ChoicesProps<Value>) {
  const { label, value, options, onValue, isHiddenLabel, isSegmented } = props;
  const name = useId();
  return (
    <fieldset class="choices">
      <legend class={isHiddenLabel ? 'unseen' : 'label'}>{label}</legend>
      <div class={isSegmented ? 'segments' : 'choices'}>
        {options.map((option) => (
          <label class="choice" key={option.value} title={option.refusal}>
            <input
              type="radio"
              name={name}
              checked={option.value === value}
              disabled={option.refusal !== undefined}
              onChange={() => onValue(option.value)}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface SelectProps {
  label: string;
  /** The id that a field gave; without it the list names itself. */
  id?: string;
  value: string;
  options: readonly { value: string; label: string }[];
  onValue: (value: string) => void;
  class?: string;
}

/** A list to choose from. Its name is for readers of the screen alone, unless a field gives it one. */
export function Select({ label, value, options, onValue, class: more = '', id }: SelectProps) {
  return (
    <span class="select-box">
      <select
        class={`select ${more}`}
        {...(id ? { id } : { 'aria-label': label })}
        value={value}
        onChange={({ currentTarget }) => onValue(currentTarget.value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.label}
          </option>
        ))}
      </select>
    </span>
  );
}

/** Joins the classes that apply; preact's type of a class allows signals, which nothing here passes. */
function classesOf(...classes: readonly unknown[]): string {
  return classes.filter((name) => typeof name === 'string' && name !== '').join(' ');
}
