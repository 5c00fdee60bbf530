let lines = 0;
export const count = () => ++lines;
