// A program for tests: "args" prints its other arguments, one a line, "exit" ends with a code, "mode" prints the mode of
// the console that it writes to, "stay FILE" makes a file and stays for ten minutes, and "event N FILE COMMAND" runs a
// command, sends it the event N of a console once the file exists, and ends as it does.
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

// Programs may send few events to others, and Wine none to a process group. Windows runs the handlers of a process in a
// function of its library, on a thread made for that, and so does this.
static int event(int number, const wchar_t *file, wchar_t *command) {
  STARTUPINFOW start = {sizeof start};
  PROCESS_INFORMATION child;
  DWORD code = 1;
  FARPROC routine = GetProcAddress(GetModuleHandleW(L"kernelbase"), "CtrlRoutine");
  if (!routine || !CreateProcessW(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, &start, &child)) return 101;
  while (GetFileAttributesW(file) == INVALID_FILE_ATTRIBUTES)
    if (WaitForSingleObject(child.hProcess, 20) != WAIT_TIMEOUT) return 102;
  if (!CreateRemoteThread(child.hProcess, NULL, 0, (LPTHREAD_START_ROUTINE)routine, (void *)(INT_PTR)number, 0, NULL)) return 103;
  WaitForSingleObject(child.hProcess, INFINITE);
  GetExitCodeProcess(child.hProcess, &code);
  return code;
}

int wmain(int argc, wchar_t **argv) {
  DWORD mode = 0;
  if (argc > 2 && !wcscmp(argv[1], L"exit")) return _wtoi(argv[2]);
  if (argc > 4 && !wcscmp(argv[1], L"event")) return event(_wtoi(argv[2]), argv[3], argv[4]);
  if (argc > 2 && !wcscmp(argv[1], L"stay")) {
    CloseHandle(CreateFileW(argv[2], GENERIC_WRITE, FILE_SHARE_READ, NULL, CREATE_ALWAYS, 0, NULL));
    Sleep(600000);
    return 0;
  }
  if (argc > 1 && !wcscmp(argv[1], L"mode")) {
    GetConsoleMode(GetStdHandle(STD_OUTPUT_HANDLE), &mode);
    printf("mode %lu;", mode);
  }
  for (int i = 2; i < argc; i++) {
    char text[1000] = "";
    WideCharToMultiByte(CP_UTF8, 0, argv[i], -1, text, sizeof text, NULL, NULL);
    printf("<%s>\n", text);
  }
  return 0;
}
