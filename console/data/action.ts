// A mutation that runs once at a time: a second click before the first is drawn as busy does nothing.
import { useMutation, type UseMutationOptions } from '@tanstack/preact-query';
import { useRef } from 'preact/hooks';

export function useAction<Data, Variables = void>(options: UseMutationOptions<Data, Error, Variables>) {
  const isRunning = useRef(false);
  const mutation = useMutation<Data, Error, Variables>({
    ...options,
    onSettled: (...outcome) => {
      isRunning.current = false;
      return options.onSettled?.(...outcome);
    },
  });
  const mutate = (variables: Variables): void => {
    if (isRunning.current) return;
    isRunning.current = true;
    mutation.mutate(variables);
  };
  return { ...mutation, mutate };
}
