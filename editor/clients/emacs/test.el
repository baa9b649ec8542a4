;;; test.el --- Drives Emacs without a screen against a real server  -*- lexical-binding: t; -*-

;;; Commentary:
;; emacs --batch -l test.el, with YAMLHOST_BINARY and YAMLHOST_PROJECT set.

;;; Code:

(add-to-list 'load-path (file-name-directory load-file-name))
(dolist (dir (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa/*")) (add-to-list 'load-path dir))
(setq eglot-connect-timeout 60 eglot-events-buffer-size 0 eglot-confirm-server-initiated-edits nil)
(require 'yamlhost)
(require 'flymake)

(setq yamlhost-command (list (getenv "YAMLHOST_BINARY") "lsp") yamlhost-trusted t eglot-sync-connect 60)

(defun test-wait (what condition)
  "Wait until CONDITION holds; WHAT names it."
  (let ((end (+ (float-time) 60)))
    (while (not (funcall condition))
      (when (> (float-time) end) (error "Waited for %s" what))
      (accept-process-output nil 0.02))))

(defun test-expect (condition what)
  "Fail with WHAT unless CONDITION."
  (unless condition (error "Not so: %s" what)))

(defun test-at (word by)
  "Go to WORD and BY characters on."
  (goto-char (point-min))
  (search-forward word)
  (goto-char (+ (match-beginning 0) by)))

(defun test-request (method &optional more)
  "Send METHOD about the point with MORE parameters."
  (jsonrpc-request (eglot--current-server-or-lose) method (append (eglot--TextDocumentPositionParams) more)))

(let ((folder (getenv "YAMLHOST_PROJECT")))
  (find-file (expand-file-name "Pulumi.yaml" folder))
  (test-expect (eq major-mode 'yamlhost-mode) (format "the mode is %s" major-mode))
  (setq-local project-find-functions (list (lambda (_) (cons 'transient folder))))
  (apply #'eglot (eglot--guess-contact))
  (test-expect (eglot-current-server) "the server runs")
  (flymake-mode 1)
  (flymake-start)
  (test-wait "findings" (lambda () (= 1 (length (flymake-diagnostics)))))
  (message "finding: %s" (car (split-string (flymake-diagnostic-text (car (flymake-diagnostics))) "\n")))
  (test-at "${pot.id}" 3)
  (let* ((at (eglot--pos-to-lsp-position))
         (actions (jsonrpc-request (eglot--current-server-or-lose) :textDocument/codeAction
                                   (list :textDocument (eglot--TextDocumentIdentifier) :range (list :start at :end at)
                                         :context '(:diagnostics [] :only ["quickfix"])))))
    (message "fix: %s" (plist-get (aref actions 0) :title))
    (eglot--apply-workspace-edit (plist-get (aref actions 0) :edit)))
  (eglot--signal-textDocument/didChange) ; without a screen Emacs is never idle, and sends changes with the next request only
  (test-wait "the finding to go" (lambda () (null (flymake-diagnostics))))
  (test-at "random:RandomPet" 8)
  (message "hover: %s" (cadr (split-string (plist-get (plist-get (test-request :textDocument/hover) :contents) :value) "\n")))
  (test-at "${pet.id}" 6)
  (message "completion behind ${pet.: %s"
           (mapconcat (lambda (i) (plist-get i :label)) (plist-get (test-request :textDocument/completion) :items) " "))
  (test-at "${pet.id}" 3)
  (message "definition: line %d"
           (1+ (plist-get (plist-get (plist-get (aref (test-request :textDocument/definition) 0) :range) :start) :line)))
  (test-at "${pet.id}" 3)
  (eglot-rename "animal")
  (test-expect (string-match-p "prefix: \\${animal\\.id}" (buffer-string)) "the use is renamed")
  (test-expect (string-match-p "aliases: \\[{name: pet}\\]" (buffer-string)) "an alias keeps the state")
  (message "renamed:\n%s" (buffer-string))
  (goto-char (point-min))
  (delete-region (point) (line-end-position))
  (insert "name:    sample   ")
  (eglot-format-buffer)
  (goto-char (point-min))
  (test-expect (looking-at "name: sample$") "the text is formatted")
  (save-buffer)
  (with-temp-buffer
    (insert-file-contents (with-current-buffer (find-buffer-visiting (expand-file-name "Pulumi.yaml" folder))
                            (yamlhost-graph (expand-file-name "graph.svg" folder))))
    (test-expect (search-forward "<svg" nil t) "the graph is a picture"))
  (with-current-buffer (yamlhost-plan)
    (test-expect (string-match-p "animal" (buffer-string)) (format "the plan names the resource: %s" (buffer-string)))
    (message "plan:\n%s" (buffer-string)))
  (eglot-shutdown (eglot-current-server)))
;;; test.el ends here
