/** Whether the labs of this process are on virtual time, and how many its test file has opened: a lab draws by its place there. */
export const settings = { isSimulated: false, labsOfFile: 0 };
